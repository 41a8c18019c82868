package show

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/doc"
	"sbx/spec"
)

// page is a record laid out for a person: titled sections of lines, before
// anything is decided about terminals or HTML. All text in it is raw.
type page struct {
	title    string
	tone     tone
	sections []section
}

type section struct {
	title string
	rows  []row
}

// row is a line. The cells of a section's rows are aligned in columns.
type row struct {
	tone  tone
	cells []string
	notes []string // further lines below
}

// tone is whether a line is good or bad news, which its colour shows.
type tone uint8

const (
	plain tone = iota
	good
	weak
	bad
)

func layOut(v audit.View) page {
	n := v.Node
	p := page{title: "run " + audit.Text(n.Get("id")) + ": " + v.State, tone: stateTone(v)}
	p.add("", verdict(v))
	p.add("refused to start", refusal(n.Get("error")))
	p.add("denied", denialRows(n))
	p.add("not wholly enforced", enforcement(n, false))
	p.add("warnings", warnings(n.Get("warnings")))
	p.add("run", overview(v))
	p.add("requested", append(asked(n.Get("requested")), jobDirs(n.Get("resolved"))...))
	p.add("enforced", enforcement(n, true))
	p.add("connections", connections(n.Get("network")))
	p.add("protected files", protected(n))
	p.add("resource usage", used(n))
	p.add("artifacts", artifacts(n))
	return p
}

func (p *page) add(title string, rows []row) {
	if len(rows) > 0 {
		p.sections = append(p.sections, section{title, rows})
	}
}

func stateTone(v audit.View) tone {
	switch v.State {
	case audit.StateExited:
		if audit.Whole(v.Node.Get("exit").Get("code")).Or(0) != 0 {
			return weak
		}
		return good
	case audit.StateRunning:
		return plain
	}
	return bad
}

func cells(s ...string) row { return row{cells: s} }

func overview(v audit.View) []row {
	n := v.Node
	h := n.Get("host")
	host := strings.TrimSpace(audit.Text(h.Get("kernel")) + " " + audit.Text(h.Get("arch")))
	if abi := audit.Whole(h.Get("landlock_abi")); abi.Set {
		host += ", landlock ABI " + strconv.FormatInt(abi.Value, 10)
	}
	if r := audit.Text(h.Get("rung")); r != "" {
		host += ", " + r
	}
	if c := audit.Text(h.Get("container")); c != "" {
		host += ", in a container of " + c
	}
	return filled([]row{
		cells("program", name(n.Get("command").Get("executable"))),
		cells("directory", name(n.Get("command").Get("cwd"))),
		cells("access mode", audit.Text(n.Get("access_mode"))),
		cells("not passed", strings.Join(texts(n.Get("resolved").Get("environment").Get("dropped")), ", ")),
		profileRow(n.Get("profile")),
		cells("started", audit.Text(n.Get("started_at"))),
		cells("ended", audit.Text(n.Get("ended_at"))),
		cells("host", host),
		cells("denials seen", seen(n)),
	})
}

func signalName(n int64) string {
	if n > 0 && n < 65 {
		if name := unix.SignalName(unix.Signal(n)); name != "" {
			return name
		}
	}
	return "signal " + strconv.FormatInt(n, 10)
}

// name returns a path or a program's name, quoted if needed.
func name(n *spec.Node) string { return spec.Name(audit.Text(n)) }

// quoteArgs returns a command line quoted for a shell.
func quoteArgs(argv *spec.Node) string {
	var b strings.Builder
	for i, a := range doc.Items(argv) {
		if i > 0 {
			b.WriteByte(' ')
		}
		s := audit.Text(a)
		if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=/.,:@%+<>") == "" {
			b.WriteString(s)
			continue
		}
		if spec.Shown(s) != s {
			q := spec.Name(s)
			b.WriteString("$'" + strings.NewReplacer(`\"`, `"`, "'", `\'`).Replace(q[1:len(q)-1]) + "'")
			continue
		}
		b.WriteString("'" + strings.ReplaceAll(s, "'", `'\''`) + "'")
	}
	return b.String()
}

func refusal(e *spec.Node) []row {
	if e == nil {
		return nil
	}
	what := audit.Text(e.Get("reason"))
	if on := audit.Text(e.Get("on")); on != "" {
		what = on + ": " + what
	}
	r := row{tone: bad, cells: []string{audit.Text(e.Get("field")), what}}
	if h := audit.Text(e.Get("help")); h != "" {
		r.notes = append(r.notes, "hint: "+h)
	}
	return []row{r}
}

// asked returns a row for each field of the documents.
func asked(n *spec.Node) []row {
	docs := []*spec.Node{n}
	if n != nil && n.Kind == spec.List {
		docs = n.Items
	}
	var rows []row
	for _, d := range docs {
		if d == nil || d.Kind != spec.Object {
			continue
		}
		for _, m := range d.Members {
			rows = append(rows, cells(m.Key, string(m.Value.AppendJSON(nil, nil))))
		}
	}
	return rows
}

// jobDirs returns the directories of --input and --output, which no document lists.
func jobDirs(resolved *spec.Node) (rows []row) {
	for _, key := range []string{"input", "output"} {
		if m := resolved.Get(key); m != nil && m.Text != "" {
			rows = append(rows, cells("--"+key, string(m.AppendJSON(nil, nil))))
		}
	}
	return rows
}

func protected(n *spec.Node) []row {
	var rows []row
	for _, c := range doc.Items(n.Get("protected")) {
		r := row{tone: weak, cells: []string{name(c.Get("path")), "unchanged"}}
		if audit.Text(c.Get("digest_before")) != audit.Text(c.Get("digest_after")) {
			r.cells[1] = "changed"
		}
		for _, e := range doc.Items(c.Get("events")) {
			note := audit.Text(e.Get("at")) + " " + audit.Text(e.Get("what"))
			if at := audit.Text(e.Get("renewed_at")); at != "" {
				note += ", protected again at " + at
			}
			r.notes = append(r.notes, note)
		}
		if ms := audit.Whole(c.Get("unprotected_ms")); ms.Set {
			note := "unprotected for " + span(ms.Value)
			if c.Get("unprotected_at_end") != nil {
				note += ", to the end"
				r.tone = bad
			}
			if why := audit.Text(c.Get("reason")); why != "" {
				note += ": " + why
			}
			r.notes = append(r.notes, note)
		}
		rows = append(rows, r)
	}
	for _, m := range doc.Items(n.Get("swept")) {
		r := row{tone: bad, cells: []string{name(m.Get("path")), "moved to " + name(m.Get("moved_to"))}}
		if why := audit.Text(m.Get("reason")); why != "" {
			r.notes = append(r.notes, why)
		}
		rows = append(rows, r)
	}
	for _, m := range doc.Items(n.Get("new_repositories")) {
		rows = append(rows, row{tone: weak, cells: []string{name(m), "new repository"}})
	}
	for _, m := range doc.Items(n.Get("sweep_cuts")) {
		rows = append(rows, row{tone: weak, cells: []string{"not looked at", audit.Text(m)}})
	}
	return rows
}
