package audit

import (
	"strconv"
	"strings"

	"sbx/internal/doc"
	"sbx/spec"
)

// verdict is what a person wants to know first: which command, how it ended, what was
// denied, and whether all that was asked was enforced.
func verdict(v View) []row {
	n := v.Node
	rows := []row{
		cells("command", quoteArgs(n.Get("command").Get("argv"))),
		{tone: stateTone(v), cells: []string{"ended", howEnded(v)}},
	}
	if c := n.Get("container"); c != nil {
		rows = append(rows, cells("container", aboutContainer(c)))
	}
	if v.State == stateRefused {
		return rows
	}
	d := cells("denied", "")
	switch count, known := denials(n); {
	case count > 0:
		d.tone, d.cells[1] = bad, strconv.FormatInt(count, 10)+" times"
		if count == 1 {
			d.cells[1] = "once"
		}
	case known:
		d.tone, d.cells[1] = good, "nothing that could be seen ("+seen(n)+")"
	case v.State == stateExited:
		d.tone, d.cells[1] = weak, "nobody could see"
	}
	e := cells("enforced", "")
	if lines := doc.Items(n.Get("enforcement")); len(lines) > 0 {
		e.tone, e.cells[1] = good, "all that was requested"
		var less []string
		for _, l := range lines {
			if !holds(text(l.Get("status"))) {
				less = append(less, text(l.Get("field")))
			}
		}
		if len(less) > 0 {
			e.tone, e.cells[1] = weak, "all but "+strings.Join(less, ", ")
		}
	}
	return filled(append(rows, d, e))
}

// aboutContainer is a container's id, and what its engine calls it.
func aboutContainer(c *spec.Node) string {
	about := text(c.Get("id"))
	pod := text(c.Get("pod"))
	if ns := text(c.Get("pod_namespace")); ns != "" {
		pod = ns + "/" + pod
	}
	var more []string
	for _, s := range []string{text(c.Get("engine")), pod, text(c.Get("name")), text(c.Get("image"))} {
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

// filled are the rows whose second cell says something.
func filled(rows []row) []row {
	kept := rows[:0]
	for _, r := range rows {
		if r.cells[1] != "" {
			kept = append(kept, r)
		}
	}
	return kept
}

func howEnded(v View) string {
	switch v.State {
	case stateLost:
		return "nobody saw it: sbx itself was killed, or the machine stopped"
	case stateRunning:
		return "not yet"
	case stateRefused:
		return "it was not started"
	}
	e := v.Node.Get("exit")
	if why := text(v.Node.Get("container").Get("exit_unknown")); why != "" && e == nil {
		return "with a status that is not known: " + why
	}
	out := ""
	if c := whole(e.Get("code")); c.Set {
		out = "with status " + strconv.FormatInt(c.Value, 10)
	}
	if s := whole(e.Get("signal")); s.Set {
		out += " by " + signalName(s.Value)
	}
	switch by := text(e.Get("ended_by")); by {
	case "", "command", "signal":
	default:
		out += ", ended by " + by
	}
	if ms := whole(v.Node.Get("usage").Get("wall_ms")); ms.Set {
		out += " after " + span(ms.Value)
	}
	return strings.TrimSpace(out)
}

// holds tells whether a line of this status holds all that was asked.
func holds(status string) bool { return status == "enforced" || status == "guarded" }

// enforcement are the lines that hold all that was asked, or the others.
func enforcement(n *spec.Node, whole bool) []row {
	var rows []row
	for _, e := range doc.Items(n.Get("enforcement")) {
		r := cells(text(e.Get("field")), text(e.Get("status")), text(e.Get("asked")), text(e.Get("by")))
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
		if why := text(e.Get("reason")); why != "" {
			r.notes = append(r.notes, why)
		}
		rows = append(rows, r)
	}
	return rows
}
