package show

import (
	"slices"
	"strings"
	"time"

	"sbx/audit"
	"sbx/internal/doc"
	"sbx/spec"
)

// Tail shows what was added to a record between two looks at it.
type Tail struct {
	programs int
	denied   int
	begun    bool
	cut      bool // it has said that not all programs are listed
}

// Next returns the lines for what is new in a record, in the order of time.
func (t *Tail) Next(v audit.View, colour bool) string {
	n := v.Node
	type line struct {
		at time.Time
		r  row
	}
	var lines []line
	since := audit.Time(n.Get("started_at"))
	add := func(at time.Time, r row) {
		r.cells[0] = span(max(at.Sub(since), 0).Milliseconds())
		lines = append(lines, line{at, r})
	}
	if !t.begun {
		t.begun = true
		add(since, cells("", quoteArgs(n.Get("command").Get("argv"))))
	}
	programs, denied := doc.Items(n.Get("started")), doc.Items(n.Get("violations"))
	for _, p := range programs[min(t.programs, len(programs)):] {
		add(audit.Time(p.Get("at")), cells("", name(p.Get("program"))))
	}
	for _, d := range denied[min(t.denied, len(denied)):] {
		what := "denied: " + audit.Text(d.Get("action")) + " " + name(d.Get("target"))
		if by := audit.Text(d.Get("program")); by != "" {
			what += " (" + spec.Name(by) + ")"
		}
		add(audit.Time(d.Get("at")), row{tone: bad, cells: []string{"", what + " by " + audit.Text(d.Get("rule"))}})
	}
	t.programs, t.denied = len(programs), len(denied)
	slices.SortStableFunc(lines, func(a, b line) int { return a.at.Compare(b.at) })
	var b strings.Builder
	for _, l := range lines {
		showRow(&b, l.r, []int{8, 0}, colour)
	}
	if n.Get("started_omitted") != nil && !t.cut {
		t.cut = true
		showRow(&b, cells("", "further programs are counted, and not listed"), []int{8, 0}, colour)
	}
	return b.String()
}

// Status returns one line about a run: how long it has run, and how much it has used of each
// budget and been denied so far.
func Status(v audit.View, now time.Time) string {
	n := v.Node
	if v.State != audit.StateRunning {
		out := "ended " + howEnded(v)
		if v.State != audit.StateExited {
			out = v.State + ": " + howEnded(v)
		}
		if count, _ := v.Denials(); count > 0 {
			out += ", " + counted(count, "denial") + ": sbx show " + audit.Text(n.Get("id"))
		}
		return out
	}
	asked := n.Get("resolved")
	out := span(max(now.Sub(audit.Time(n.Get("started_at"))), 0).Milliseconds())
	if most := audit.Text(asked.Get("limits").Get("timeout")); most != "" {
		out += " of " + most
	}
	add := func(used *spec.Node, thing string, most *spec.Node) {
		if c := audit.Whole(used); c.Set {
			out += ", " + counted(c.Value, thing)
			if m := audit.Whole(most); m.Set {
				out += " of " + digits(m.Value)
			}
		}
	}
	add(n.Get("commands_used"), "program", asked.Get("max_commands"))
	add(n.Get("turns_used"), "turn", asked.Get("max_turns"))
	if count, known := v.Denials(); known {
		out += ", " + counted(count, "denial")
	}
	return out
}
