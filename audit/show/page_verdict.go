package show

import (
	"strconv"
	"strings"

	"sbx/audit"
	"sbx/internal/doc"
	"sbx/spec"
)

// verdict returns what people want to know first: which command ran, how it ended, what was
// denied, and whether everything requested was enforced.
func verdict(v audit.View) []row {
	n := v.Node
	rows := []row{
		cells("command", quoteArgs(n.Get("command").Get("argv"))),
		{tone: stateTone(v), cells: []string{"ended", howEnded(v)}},
	}
	if c := n.Get("container"); c != nil {
		rows = append(rows, cells("container", aboutContainer(c)))
	}
	if v.State == audit.StateRefused {
		return rows
	}
	d := cells("denied", "")
	switch count, known := v.Denials(); {
	case count > 0:
		d.tone, d.cells[1] = bad, strconv.FormatInt(count, 10)+" times"
		if count == 1 {
			d.cells[1] = "once"
		}
	case known:
		d.tone, d.cells[1] = good, "nothing that could be seen ("+seen(n)+")"
	case v.State == audit.StateExited:
		d.tone, d.cells[1] = weak, "nobody could see"
	}
	e := cells("enforced", "")
	if lines := doc.Items(n.Get("enforcement")); len(lines) > 0 {
		e.tone, e.cells[1] = good, "all that was requested"
		var less []string
		for _, l := range lines {
			if !holds(audit.Text(l.Get("status"))) {
				less = append(less, audit.Text(l.Get("field")))
			}
		}
		if len(less) > 0 {
			e.tone, e.cells[1] = weak, "all but "+strings.Join(less, ", ")
		}
	}
	return filled(append(rows, d, e))
}

// aboutContainer returns the id of a container and the names that its engine has for it.
func aboutContainer(c *spec.Node) string {
	about := audit.Text(c.Get("id"))
	pod := audit.Text(c.Get("pod"))
	if ns := audit.Text(c.Get("pod_namespace")); ns != "" {
		pod = ns + "/" + pod
	}
	var more []string
	for _, s := range []string{audit.Text(c.Get("engine")), pod, audit.Text(c.Get("name")), audit.Text(c.Get("image"))} {
		if s != "" {
			more = append(more, s)
		}
	}
	if len(more) > 0 {
		about += " (" + strings.Join(more, ", ") + ")"
	}
	if c.Get("nothing_asked") != nil {
		about += ": nothing requested"
	}
	return about
}

// filled returns the rows whose second cell is not empty.
func filled(rows []row) []row {
	kept := rows[:0]
	for _, r := range rows {
		if r.cells[1] != "" {
			kept = append(kept, r)
		}
	}
	return kept
}

func howEnded(v audit.View) string {
	switch v.State {
	case audit.StateLost:
		return "nobody saw it: sbx itself was killed, or the machine stopped"
	case audit.StateRunning:
		return "not yet"
	case audit.StateRefused:
		return "it was not started"
	}
	e := v.Node.Get("exit")
	if why := audit.Text(v.Node.Get("container").Get("exit_unknown")); why != "" && e == nil {
		return "with a status that is not known: " + why
	}
	out := ""
	if c := audit.Whole(e.Get("code")); c.Set {
		out = "with status " + strconv.FormatInt(c.Value, 10)
	}
	if s := audit.Whole(e.Get("signal")); s.Set {
		out += " by " + signalName(s.Value)
	}
	switch by := audit.Text(e.Get("ended_by")); by {
	case "", "command", "signal":
	default:
		out += ", ended by " + by
	}
	if ms := audit.Whole(v.Node.Get("usage").Get("wall_ms")); ms.Set {
		out += " after " + span(ms.Value)
	}
	return strings.TrimSpace(out)
}

// holds reports whether a line with this status means that everything requested is enforced.
func holds(status string) bool { return status == "enforced" || status == "guarded" }

// enforcement returns the lines that are wholly enforced, or the other lines.
func enforcement(n *spec.Node, whole bool) []row {
	var rows []row
	for _, e := range doc.Items(n.Get("enforcement")) {
		r := cells(audit.Text(e.Get("field")), audit.Text(e.Get("status")), audit.Text(e.Get("asked")), audit.Text(e.Get("by")))
		if holds(r.cells[1]) != whole {
			continue
		}
		switch {
		case whole:
			r.tone = good
		case r.cells[1] == "unavailable":
			r.tone = bad
		default:
			r.tone = weak
		}
		if why := audit.Text(e.Get("reason")); why != "" {
			r.notes = append(r.notes, why)
		}
		rows = append(rows, r)
	}
	return rows
}
