package outer

import (
	"slices"
	"strings"

	"sbx/internal/view"
	"sbx/seccomp"
	"sbx/wrap"
)

// BackendPlan is a plan by which sbx runs a command through another tool: the tool makes the
// sandbox; sbx stays outside, enforces the timeout and the limits that it can enforce for any
// process, and records what the tool promised.
type BackendPlan struct {
	Line  Invocation
	Plan  *wrap.Plan // for the tool's own process; the record has its Enforcement
	Blind []string   // what sbx cannot see of such a run
	// View is what the command may do at each path.
	View view.Tree
	// Filter is the seccomp program that the tool reads from Ask.FilterFD.
	Filter []byte
	// Below is how many of the tool's processes wait for the command and must not get its
	// signals; 0 where the tool passes signals on.
	Below int
}

// NewBackendPlan plans one invocation. Ask.Supervised is implied.
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
		// A mount that disappears inside cannot be renewed from outside. Protected names that
		// the command creates are still seen and moved away.
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
			b.Filter = []byte(seccomp.Shipped(f.Options, seccomp.Native))
		}
	}
	return b, nil
}

// promised returns the Enforcement of the record: by the tool where the tool enforces a field,
// and weaker for each Lack.
func (w *wrapper) promised(notHeld []Lack) []wrap.Enforcement {
	lines := slices.Clone(w.plan.Enforcement)
	for i := range lines {
		e := &lines[i]
		switch {
		case e.Status == wrap.Unavailable, e.Field == "limits.timeout", e.Field.In("limits") && !w.image && w.name != nameContainer:
		case e.Field == wrap.FieldUnmade && w.name == nameContainer: // nothing is watched before a container ends
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
