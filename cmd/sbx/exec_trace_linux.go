package main

import (
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit/listen"
	"sbx/audit/trace"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch"
)

// trace makes the supervisor the tracer of the command, which is ready and
// waits, where programs are counted so.
func (x *execution) trace() error {
	if x.plan.Counter != wrap.CounterPtrace {
		return nil
	}
	wake, err := launch.Children()
	if err != nil {
		return err
	}
	t, err := trace.Attach(x.process.CommandPid(), &x.ledger, trace.Options{
		Wake: wake, Reaped: x.process.Collected, Debugger: x.debugged, Exceeded: func() { x.end("max_commands") },
		Refused: func(tid int, program string) {
			x.refused(&listen.Refusal{TID: tid, Cause: listen.ByBudget, Action: "execute", Target: program})
		}})
	if err != nil {
		x.process.Kill()
		return err
	}
	x.tracer = t
	x.process.Attend(launch.Waiter{FD: wake, Event: t.Event})
	return nil
}

// untraceable says why a command cannot be traced.
func untraceable(e *trace.AttachError) string {
	why := e.Error()
	if e.Err == unix.EPERM {
		why += " (somebody traces it already, or a security module forbids it)"
	}
	return why
}

// traced demands that the tracer holds the command, which has been let go.
func (x *execution) traced() error {
	if x.tracer == nil || x.tracer.Started() {
		return nil
	}
	return &spec.Problem{Do: "count programs by ptrace", Why: launch.TracerOutranked, Help: "leave --counter out"}
}

// settleFor is how long the command has to stop by a terminal's signal before
// the supervisor, which hands the signal on, stops as well.
const settleFor = 100 * time.Millisecond

// settle lets the command stop first.
func (x *execution) settle() {
	if x.tracer != nil {
		x.tracer.Settle(settleFor)
	}
}

// debugged says, once, why a debugger fails inside.
func (x *execution) debugged(int) {
	if x.quiet() {
		return
	}
	x.std.say("ptrace is refused inside: a process has one tracer, and it counts programs here")
	x.std.say("hint: --counter notify (Linux 6.0 or newer) or --counter none leaves ptrace to debuggers")
}
