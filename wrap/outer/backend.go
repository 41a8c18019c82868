package outer

import (
	"slices"
	"strings"

	"sbx/internal/view"
	"sbx/seccomp"
	"sbx/wrap"
)

// BackendPlan is how sbx runs a command through another tool: the tool is the one
// that holds the sandbox, sbx stays outside, waits, bounds the time, keeps what it
// can keep for any process, and writes down what the tool promised.
type BackendPlan struct {
	Line  Invocation
	Plan  *wrap.Plan // of the tool's own process; its Enforcement is the record's
	Blind []string   // what sbx cannot see of such a run
	// View is what the command may do at each path.
	View view.Tree
	// Filter is the seccomp program that the tool reads from Ask.FilterFD.
	Filter []byte
	// Below is how many processes of the tool's wait for the command: signals are not
	// for them. It is 0 where the tool passes them on.
	Below int
}

// NewBackendPlan makes the Backing of one invocation. Ask.Supervised is implied.
func NewBackendPlan(name string, a Ask, inv Invocation) (*BackendPlan, error) {
	a.Supervised = true
	w, err := newWrapper(name, a)
	if err != nil {
		return nil, err
	}
	line, _, err := w.Wrap(inv)
	if err != nil {
		return nil, err
	}
	in := w.plan.Watch
	p := &wrap.Plan{
		Opening: wrap.Opening{Rung: wrap.RungFree},
		Command: wrap.Command{Argv: append([]string{line.Cmd}, line.Args...), Executable: line.Cmd, Dir: inv.Cwd},
		Base:    wrap.BaseHost, KeepCaps: true, Env: line.Env, Limits: w.plan.Limits,
		// What falls off inside cannot be mounted again; what comes into being is
		// seen and moved away all the same.
		Watch: wrap.Watch{Protected: in.Protected, Unmade: in.Unmade, Closed: in.Closed, Trees: in.Trees, Git: in.Git, Allowed: in.Allowed},
	}
	if w.image {
		p.Limits = wrap.Limits{Timeout: w.plan.Limits.Timeout}
	}
	p.Enforcement = w.promised(w.lacks)
	p.Brokered = a.Broker.Socket != ""
	b := &BackendPlan{Line: line, Plan: p, View: w.plan.View, Blind: []string{"commands", "refusals"}, Below: w.below}
	if w.name == namePodman && w.a.Host.UID != 0 { // a second process makes the container; the first ends with 0 at a signal
		b.Below = 1
	}
	if w.image {
		b.Blind = append(b.Blind, "usage")
	}
	if f := &w.plan.Filter; a.FilterFD != 0 && f.On {
		if b.Filter = f.Code; b.Filter == nil {
			b.Filter = []byte(seccomp.Shipped(f.Options(), seccomp.Native))
		}
	}
	return b, nil
}

// promised are the lines of the record: by the tool, where it is the one that
// holds a field, and weaker where it does not.
func (w *wrapper) promised(notHeld []Lack) []wrap.Enforcement {
	lines := slices.Clone(w.plan.Enforcement)
	for i := range lines {
		e := &lines[i]
		switch {
		case e.Status == wrap.Unavailable, e.Field == "limits.timeout", e.Field.In("limits") && !w.image && w.name != nameContainer:
		case e.Field == wrap.FieldUnmade && w.name == nameContainer: // in which nothing is watched before its end
			e.By = strings.Replace(e.By, "inotify, ", "", 1)
		case e.Field == wrap.FieldUnmade:
		case e.Field == wrap.FieldSideDoors, e.Field == wrap.FieldNoNewPrivs, e.By != "":
			e.By = w.name
		}
	}
	for _, l := range notHeld {
		if i := slices.IndexFunc(lines, func(e wrap.Enforcement) bool { return e.Field == wrap.FieldUnmade }); i >= 0 && l.Field == wrap.FieldProtected {
			lines[i] = wrap.Enforcement{Field: wrap.FieldUnmade, Asked: lines[i].Asked, Status: wrap.Degraded, Reason: l.Why}
		}
		i := slices.IndexFunc(lines, func(e wrap.Enforcement) bool { return e.Field == l.Field })
		switch {
		case i >= 0 && w.a.Resolved.Spec.Text(l.Field) != "":
			lines[i].Weaken(wrap.Unavailable, l.Why)
			lines[i].By = ""
		case i >= 0:
			lines[i].Weaken(wrap.Degraded, l.Why)
		default:
			lines = append(lines, wrap.Enforcement{Field: l.Field, Asked: "default", Status: wrap.Degraded, By: w.name, Reason: l.Why})
		}
	}
	return lines
}
