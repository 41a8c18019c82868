package show

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"sbx/audit"
	"sbx/internal/doc"
	"sbx/spec"
)

// moment is a started program in the tree of all programs, or a denial of a program.
type moment struct {
	name, title string
	at, end     time.Time
	open        bool // its end was not seen
	denied      bool
	pid         int64
	beneath     []*moment
}

// timeline returns the command with the programs that it started and their denials, nil if the
// record does not list programs.
func timeline(v audit.View) *moment {
	n := v.Node
	argv := doc.Items(n.Get("command").Get("argv"))
	if n.Get("started") == nil || len(argv) == 0 {
		return nil
	}
	whole64 := func(v *spec.Node) int64 { return audit.Whole(v).Value }
	root := &moment{name: path.Base(audit.Text(argv[0])), title: audit.Text(n.Get("command").Get("executable")), at: audit.Time(n.Get("started_at")), end: audit.Time(n.Get("ended_at")),
		pid: whole64(n.Get("command").Get("pid"))}
	latest := map[int64]*moment{root.pid: root} // by process, the program that it runs
	var all []*moment
	for _, p := range first(doc.Items(n.Get("started"))) {
		m := &moment{name: path.Base(audit.Text(p.Get("program"))), title: audit.Text(p.Get("program")), at: audit.Time(p.Get("at")), end: audit.Time(p.Get("ended_at")), pid: whole64(p.Get("pid"))}
		if before := latest[m.pid]; before != nil && before != root && m.pid > 0 && (before.end.IsZero() || !before.end.Before(m.at)) {
			before.end = m.at // the process executed another program
		}
		above := latest[whole64(p.Get("parent"))]
		if above == nil {
			above = root
		}
		above.beneath = append(above.beneath, m)
		all = append(all, m)
		if m.pid > 0 {
			latest[m.pid] = m
		}
	}
	for _, d := range first(doc.Items(n.Get("violations"))) {
		at, pid := audit.Time(d.Get("at")), whole64(d.Get("pid"))
		above := root
		for _, m := range all {
			if m.pid == pid && pid > 0 && !m.at.After(at) {
				above = m
			}
		}
		what := strings.TrimSpace(audit.Text(d.Get("action")) + " " + spec.Name(audit.Text(d.Get("target"))))
		m := &moment{name: what, title: audit.Text(d.Get("rule")), at: at, end: at, denied: true}
		i := len(above.beneath)
		for i > 0 && above.beneath[i-1].at.After(at) {
			i--
		}
		above.beneath = append(above.beneath[:i], append([]*moment{m}, above.beneath[i:]...)...)
	}
	last := root.end
	for _, m := range all {
		for _, at := range []time.Time{m.at, m.end} {
			if at.After(last) {
				last = at
			}
		}
	}
	if root.end.IsZero() {
		root.open, root.end = true, last
	}
	for _, m := range all {
		if m.end.IsZero() {
			m.open, m.end = true, root.end
		}
	}
	return root
}

// shownMoments is how many lines of the timeline are not folded, maxMoments how many programs
// and denials it has at most: anybody may have written the record.
const (
	shownMoments = 40
	maxMoments   = 1000
)

func first(list []*spec.Node) []*spec.Node { return list[:min(len(list), maxMoments)] }

func htmlTimeline(b *strings.Builder, v audit.View) {
	root := timeline(v)
	if root == nil {
		return
	}
	b.WriteString("<h2>timeline</h2>\n")
	lines := root.lines(nil, 0, root)
	omitted := audit.Whole(v.Node.Get("started_omitted")).Value + int64(max(len(doc.Items(v.Node.Get("started")))-maxMoments, 0))
	b.WriteString(strings.Join(lines[:min(len(lines), shownMoments)], ""))
	if len(lines) > shownMoments {
		open := ""
		if slices.ContainsFunc(lines[shownMoments:], func(line string) bool { return strings.HasPrefix(line, deniedLine) }) {
			open = " open"
		}
		b.WriteString("<details" + open + "><summary>" + strconv.Itoa(len(lines)-shownMoments) + " more</summary>\n" + strings.Join(lines[shownMoments:], "") + "</details>\n")
	}
	if omitted > 0 {
		b.WriteString("<p>and " + digits(omitted) + " programs that are not listed</p>\n")
	}
}

// lines appends the line of a moment and those of the moments below it.
func (m *moment) lines(dst []string, depth int, root *moment) []string {
	dst = append(dst, m.line(min(depth, 8), root))
	for _, one := range m.beneath {
		dst = one.lines(dst, depth+1, root)
	}
	return dst
}

// deniedLine is how the line of a denial begins.
const deniedLine = `<div class="run bad"`

func (m *moment) line(depth int, root *moment) string {
	line, name, took, open := `<div class="run"`, spec.Name(m.name), "", ""
	total := max(root.end.Sub(root.at), time.Millisecond)
	from := min(max(m.at.Sub(root.at), 0), total)
	long := min(max(m.end.Sub(m.at), 0), total-from)
	switch {
	case m.denied:
		line, name, took = deniedLine, "✗ "+m.name, "denied"
	case m.open:
		open, took = ` class="open"`, "from "+span(from.Milliseconds())
	default:
		took = span(m.end.Sub(m.at).Milliseconds())
	}
	percent := func(d time.Duration) string {
		return strconv.FormatFloat(100*float64(d)/float64(total), 'f', 2, 64) + "%"
	}
	return line + ` title="` + escapeHTML(m.title) + `"><span style="padding-left:` + strconv.Itoa(depth) + `em">` + breakable(name) + `</span><div class="bar"><i` + open +
		` style="left:min(` + percent(from) + `,100% - 3px);width:` + percent(long) + `"></i></div><span>` + escapeHTML(took) + "</span></div>\n"
}
