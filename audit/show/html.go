package show

import (
	"strconv"
	"strings"

	"sbx/audit"
	"sbx/internal/doc"
	"sbx/spec"
)

// Part is a titled list of rows, such as the paths that may be written.
type Part struct {
	Title string
	Rows  []Row
}

// Row is a line of a Part: a path or host, and the line of the spec that decides about it.
type Row struct{ What, Why string }

// Beside is what a page shows in addition to its record. Unknown parts are empty.
type Beside struct {
	Reach   []Part // what the record's documents make reachable on this host now
	Spec    string // a document that would have allowed everything that was denied
	Changes string // the new lines of Spec, and what each is for
}

// HTML returns a record as one self-contained page that runs no script and loads nothing from
// the network.
func HTML(v audit.View, more Beside) string {
	p, n := layOut(v), v.Node
	var b strings.Builder
	b.WriteString("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" +
		`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">` + "\n" +
		"<meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>" + escapeHTML(p.title) + "</title>\n<style>" + style + "</style>\n</head>\n<body>\n")
	b.WriteString("<h1>" + breakable(shortened(quoteArgs(n.Get("command").Get("argv")), maxHeading)) + "</h1>\n<p>in " + breakable(name(n.Get("command").Get("cwd"))) +
		", " + escapeHTML(audit.Text(n.Get("started_at"))) + ", " + escapeHTML(p.title) + "</p>\n")
	htmlTiles(&b, v)
	folded := map[string]bool{"run": true, "requested": true, "enforced": true, "resource usage": true}
	for _, s := range p.sections[1:] { // the first is shown in the tiles
		if !folded[s.title] && s.title != "connections" {
			htmlSection(&b, s, "")
		}
		if s.title == "denied" && more.Spec != "" {
			b.WriteString("<details open><summary>a spec that would have allowed it; look at it before you use it</summary>\n<pre>" + escapeLines(more.Changes) + "</pre>\n<pre>" + escapeLines(more.Spec) + "</pre>\n</details>\n")
		}
	}
	htmlTimeline(&b, v)
	for _, s := range []section{{"connections", connections(n.Get("network"))}, {"opened to write", openedRows(n)}} {
		htmlSection(&b, s, "")
	}
	htmlReach(&b, n, more.Reach)
	for _, s := range p.sections {
		if s.title == "run" {
			s.rows = append(p.sections[0].rows, s.rows...)
		}
		if folded[s.title] {
			htmlSection(&b, s, s.title)
		}
	}
	b.WriteString("<details><summary>the record</summary>\n<pre>" + escapeLines(string(n.AppendIndented(nil))) + "</pre>\n</details>\n</body>\n</html>\n")
	return b.String()
}

// maxHeading is how many characters of a command the heading has.
const maxHeading = 120

// htmlSection writes the rows of a section, folded under its summary if it has one.
func htmlSection(b *strings.Builder, s section, summary string) {
	if len(s.rows) == 0 {
		return
	}
	if summary != "" {
		b.WriteString("<details><summary>" + escapeHTML(summary) + "</summary>\n")
	} else if s.title != "" {
		b.WriteString("<h2>" + escapeHTML(s.title) + "</h2>\n")
	}
	for _, r := range s.rows {
		htmlRow(b, r)
	}
	if summary != "" {
		b.WriteString("</details>\n")
	}
}

func htmlRow(b *strings.Builder, r row) {
	b.WriteString(`<div class="row">`)
	for i, c := range r.cells {
		if c == "" && i == len(r.cells)-1 {
			continue
		}
		cl := ""
		if i <= 1 {
			cl = class(r.tone)
		}
		b.WriteString("<span" + cl + ">" + breakable(c) + "</span>")
	}
	for _, n := range r.notes {
		b.WriteString("<p>" + breakable(n) + "</p>")
	}
	b.WriteString("</div>\n")
}

// htmlTiles writes the four things to know first.
func htmlTiles(b *strings.Builder, v audit.View) {
	n := v.Node
	tile := func(t tone, large, small string) {
		b.WriteString("<div" + class(t) + "><b>" + escapeHTML(large) + "</b><span>" + escapeHTML(small) + "</span></div>\n")
	}
	b.WriteString("<div class=\"tiles\">\n")
	large, code := v.State, audit.Whole(n.Get("exit").Get("code"))
	if v.State == audit.StateExited && code.Set {
		large = "exit " + strconv.FormatInt(code.Value, 10)
	}
	tile(stateTone(v), large, strings.TrimPrefix(howEnded(v), "with status "+digits(code.Value)))
	if v.State != audit.StateRefused {
		count, known := v.Denials()
		switch {
		case count > 0:
			tile(bad, counted(count, "denial"), deniedKinds(n))
		case known:
			tile(good, "no denial", "of what could be seen: "+seen(n))
		default:
			tile(weak, "denials?", "nobody could see")
		}
		if lines := doc.Items(n.Get("enforcement")); len(lines) > 0 {
			less, held := enforcement(n, false), len(enforcement(n, true))
			t, small := good, "all that was requested"
			if len(less) > 0 {
				t, small = weak, "not wholly: "
				for i, r := range less {
					small += strings.Repeat(", ", min(i, 1)) + r.cells[0]
				}
			}
			tile(t, strconv.Itoa(held)+" of "+strconv.Itoa(len(lines))+" enforced", small)
		}
	}
	if used := n.Get("usage"); used != nil {
		cpu := audit.Whole(used.Get("user_ms")).Value + audit.Whole(used.Get("system_ms")).Value
		small := size(audit.Whole(used.Get("max_rss_bytes")).Value) + " of memory"
		if c := audit.Whole(n.Get("commands_used")); c.Set {
			small += ", " + counted(c.Value, "program")
			if most := audit.Whole(n.Get("resolved").Get("max_commands")); most.Set {
				small += " of " + digits(most.Value)
			}
		}
		tile(plain, span(cpu)+" of CPU", small)
	}
	b.WriteString("</div>\n")
}

// counted returns a number with its noun, in the plural if needed.
func counted(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return digits(n) + " " + thing
}

// deniedKinds counts the denials of each kind.
func deniedKinds(n *spec.Node) string {
	var kinds []string
	count := map[string]int64{}
	for _, v := range doc.Items(n.Get("violations")) {
		kind := audit.Text(v.Get("kind"))
		kinds = with(kinds, kind)
		count[kind] += audit.Whole(v.Get("count")).Or(1)
	}
	for i, kind := range kinds {
		kinds[i] = digits(count[kind]) + " " + kind
	}
	return strings.Join(kinds, ", ")
}

func openedRows(n *spec.Node) (rows []row) {
	for _, o := range doc.Items(n.Get("opened_to_write")) {
		rows = append(rows, cells(name(o.Get("path")), audit.Text(o.Get("action")), counted(audit.Whole(o.Get("count")).Value, "time")))
	}
	if c := audit.Whole(n.Get("opened_to_write_omitted")); c.Set {
		rows = append(rows, cells("and "+digits(c.Value)+" more calls"))
	}
	return rows
}

// htmlReach writes what the command could reach: the lists of Beside or, without them, what the
// record itself contains.
func htmlReach(b *strings.Builder, n *spec.Node, parts []Part) {
	from := "as its spec is on this host now; sbx check prints the same"
	if len(parts) == 0 {
		parts, from = resolvedParts(n.Get("resolved")), "by its spec"
	}
	if len(parts) == 0 {
		return
	}
	b.WriteString("<h2>what it could reach</h2>\n<p>" + from + "</p>\n")
	for i, p := range parts {
		b.WriteString("<details" + [...]string{" open", ""}[min(i, 1)] + "><summary>" + escapeHTML(p.Title) + " (" + strconv.Itoa(len(p.Rows)) + ")</summary>\n")
		for _, r := range p.Rows {
			htmlRow(b, cells(r.What, r.Why))
		}
		b.WriteString("</details>\n")
	}
}

func resolvedParts(r *spec.Node) (parts []Part) {
	for _, key := range []string{"write", "read", "hide", "network", "mounts"} {
		p := Part{Title: key}
		switch list := r.Get(key); {
		case key == "network" && list != nil:
			p.Rows = append(p.Rows, Row{What: audit.Text(list.Get("mode"))})
			for _, one := range doc.Items(list.Get("allow")) {
				p.Rows = append(p.Rows, Row{audit.Text(one.Get("to")), audit.Text(one.Get("by"))})
			}
		case key == "mounts":
			for _, m := range doc.Items(list) {
				p.Rows = append(p.Rows, Row{name(m.Get("target")), audit.Text(m.Get("mode")) + " " + name(m.Get("source"))})
			}
		default:
			for _, path := range texts(list) {
				p.Rows = append(p.Rows, Row{What: spec.Name(path)})
			}
		}
		if len(p.Rows) > 0 {
			parts = append(parts, p)
		}
	}
	return parts
}
