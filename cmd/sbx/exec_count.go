package main

import (
	"strconv"
	"time"

	"sbx/audit"
	"sbx/audit/listen"
	"sbx/spec"
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
		return c, usageError("exec: --counter is notify, ptrace or none, and not " + quote(x.value("counter")))
	}
	return c, nil
}

// count makes the ledger, and the listener that keeps it where there is one.
func (x *execution) count(h *launch.Hooks) {
	s := x.resolved.Spec
	x.ledger = audit.Ledger{Max: s.MaxCommands, OnExceed: s.OnExceed.Or(spec.Deny)}
	if x.process.Listener() < 0 {
		return
	}
	l := &listen.Listener{FD: x.process.Listener(), Root: x.process.Root(), Ledger: &x.ledger, Refused: x.overBudget}
	l.Exceeded = func(tid int, program string) {
		x.overBudget(tid, program)
		x.end("max_commands")
	}
	h.Wait = append(h.Wait, launch.Waiter{FD: l.FD, Event: l.Serve})
}

// overBudget notes a program that the budget refused, and tells of the first.
func (x *execution) overBudget(tid int, program string) {
	maximum := x.resolved.Spec.MaxCommands.Value
	rule := "max_commands: " + strconv.Itoa(maximum)
	x.record.Violations.Add(audit.Violation{Kind: "command", At: time.Now(), PID: tid, Program: audit.ProgramOf(tid), Action: "execute",
		Target: string([]byte(program)), Rule: rule, AllowWith: "max_commands: " + strconv.Itoa(maximum+1)})
	x.once("max_commands", rule+": "+quote(program)+" was refused, as will be what follows")
}

// once tells a person of a kind of refusal the first time that it is met.
func (x *execution) once(kind, text string) {
	for _, k := range x.told {
		if k == kind {
			return
		}
	}
	x.told = append(x.told, kind)
	if !x.has("q") {
		x.std.say(text)
	}
}

// end ends everything, for a reason that the record has as exit.ended_by.
func (x *execution) end(reason string) {
	if x.ended == "" {
		x.ended = reason
	}
	x.process.End()
}

// counted puts the ledger into the record.
func (x *execution) counted() {
	if x.plan.Counter != wrap.CounterNone {
		x.record.Commands = spec.Some(x.ledger.Commands(x.plan.Counter.String()))
		x.record.ObservedKinds = append(x.record.ObservedKinds, "command")
	}
}
