package main

import (
	"strconv"
	"strings"

	"sbx/audit"
	"sbx/audit/listen"
	"sbx/internal/outer"
	"sbx/spec"
	"sbx/spec/agent"
	"sbx/wrap"
	"sbx/wrap/launch"
)

// counterAsked is the counter that the command line names.
func (x *execution) counterAsked() (wrap.Counter, error) {
	if !x.has("counter") {
		return wrap.CounterAuto, nil
	}
	c, ok := wrap.ParseCounter(x.value("counter"))
	if !ok {
		return c, usageError("exec: --counter is notify, ptrace or none, and not " + spec.Word(x.value("counter")))
	}
	return c, nil
}

// describeAsked is how much of what is refused the command line wants described.
func (x *execution) describeAsked() (wrap.Describe, error) {
	switch v := x.value("violations"); v {
	case "", "on":
		return wrap.DescribeAll, nil
	case "names":
		return wrap.DescribeNames, nil
	case "off":
		return wrap.DescribeNone, nil
	default:
		return 0, usageError("exec: --violations is on, names or off, and not " + spec.Word(v))
	}
}

// openLedger makes the ledger, before the command is let go.
func (x *execution) openLedger() {
	s := x.resolved.Spec
	x.ledger = audit.Ledger{Max: s.MaxCommands, OnExceed: s.OnExceed.Or(spec.Deny)}
}

// listen makes the listener that answers the sandbox's calls, where there is one.
func (x *execution) listen(h *launch.Hooks) {
	if x.process.Listener() < 0 {
		return
	}
	l := &listen.Listener{FD: x.process.Listener(), Root: x.process.Root(), Views: x.plan.Watch.Views,
		Sockets: x.plan.Sockets, Programs: x.programs,
		Forbids: func(string) bool { return false }, Part: wrap.IsProtectedPart,
		Guards:   func(string) (audit.Guard, string) { return audit.Unguarded, "" },
		Exceeded: func() { x.end("max_commands") }, Refused: x.refused}
	if x.plan.Counter == wrap.CounterNotify {
		l.Ledger, l.Tells = &x.ledger, x.plan.Tells
		// A descriptor that is kept may lead to a model.
		if x.plan.SeesReach() && x.agent.Agent != 0 && len(x.keep) == 0 {
			x.ledger.Own, l.Aside = spec.Some(0), agent.Aside(x.agent.Agent)
		}
	}
	if x.sweep != nil {
		l.Forbids, l.Empty, l.Part = x.sweep.Forbids, x.sweep.Empty, x.sweep.Part
		l.Guards, l.Guarded = x.sweep.Guards, x.sweep.Guarded
		l.Links, l.Makes = x.sweep.Links, x.patrol.makes
		l.Refused = func(r *listen.Refusal) {
			x.refused(r)
			if path, ok := l.Host(r.Target); ok && r.Cause == listen.ByName {
				x.patrol.Refused(strings.Clone(path))
				x.patrol.makes()
			}
		}
	}
	if x.plan.Base == wrap.BaseHost {
		l.Closed = x.plan.Closed
	}
	if x.linked != nil {
		l.Remove = x.linked.Remove
	}
	x.clock.counts(&l.Answered)
	h.Calls = &launch.Calls{FD: l.FD, Take: l.Take, Answer: l.Answer, Apart: !x.resolved.SideDoors}
	if l.Sockets {
		x.listenSockets(l, h)
	}
}

// listenSockets gives the listener what it needs to connect sockets.
func (x *execution) listenSockets(l *listen.Listener, h *launch.Hooks) {
	l.Named, l.Interrupt, l.Describes = x.plan.Watch.Sockets, launch.Interrupt, x.describe != wrap.DescribeNone
	h.Wait = append(h.Wait, launch.Waiter{FD: l.OpenClock(), Event: l.Tick})
	if q := x.egress.lookups; q != nil {
		h.Wait = append(h.Wait, launch.Waiter{FD: q.FD, Event: q.Hear})
	}
	if x.plan.Relay {
		l.Egress = x.egress.lead
	}
}

// end ends everything, for a reason that the record has as exit.ended_by.
func (x *execution) end(reason string) {
	if x.ended == "" {
		x.ended = reason
	}
	x.process.End()
}

// outer asks the outer sbx to keep the budget, where it counts, and what may be reached:
// before the command is let go, whose start is free.
func (x *execution) outer() error {
	if err := x.narrow(); err != nil {
		return err
	}
	if x.plan.Counter != wrap.CounterOuter || x.budget.Open() {
		return nil
	}
	s := x.resolved.Spec
	var ok bool
	if x.budget, ok = outer.OpenBudget(s.MaxCommands, s.OnExceed.Or(spec.Deny)); !ok {
		return &spec.Problem{Field: "max_commands", On: x.resolved.At("max_commands"), Do: "have the outer sandbox count programs",
			Why: "its supervisor keeps no more budgets", Help: "end other runs inside it, or use --counter none"}
	}
	return nil
}

// outerCounted takes what the outer sbx counted.
func (x *execution) outerCounted() {
	if x.plan.Counter != wrap.CounterOuter {
		return
	}
	if x.budget.Exceeded() {
		x.ended = "max_commands"
	}
	attempted, started, refused, ok := x.budget.Commands()
	if !ok {
		return
	}
	x.record.Commands = spec.Some(audit.Commands{Attempted: attempted, Started: started, Refused: refused, By: wrap.CounterOuter.String()})
	n := x.resolved.Spec.MaxCommands
	if refused > 0 && n.Set {
		rule := "max_commands: " + strconv.Itoa(n.Value)
		x.record.Violations.Add(audit.Violation{Kind: "command", At: x.record.EndedAt, Action: "execute", Rule: rule,
			AllowWith: "max_commands: " + strconv.Itoa(n.Value+refused), Count: refused})
		if !x.quiet() {
			x.std.say(rule + ": " + strconv.Itoa(refused) + " more were refused")
		}
	}
}

// counted puts the ledger into the record.
func (x *execution) counted() {
	switch x.plan.Counter {
	case wrap.CounterNotify:
		x.record.Commands = spec.Some(x.ledger.Commands(x.plan.Counter.String()))
	case wrap.CounterPtrace:
		x.record.Commands = spec.Some(x.tracer.Commands())
	}
	x.record.ObservedKinds, x.record.ObservedFiles = x.plan.Observed(), x.plan.ObservedFiles()
	if x.landlog != nil && x.landlog.Heard() {
		x.record.ObservedFiles = append(x.record.ObservedFiles, "reads")
	}
	if x.watched != nil {
		x.record.ObservedKinds = append(x.record.ObservedKinds, "tool")
	}
}
