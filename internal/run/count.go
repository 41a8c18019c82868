package run

import (
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/audit/listen"
	"sbx/audit/trace"
	"sbx/internal/enclosing"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch"
)

// count says who counts the executed programs, and how many there were.
type count struct {
	*events
	ledger audit.Ledger
	budget enclosing.Budget // used if an outer sbx counts
	tracer *trace.Tracer    // nil unless programs are counted by ptrace
}

// begin asks the outer sbx, if that counts, to enforce the budget. It does so before the
// command is released: the start of the command itself is free.
func (x *count) begin() error {
	s := x.Resolved.Spec
	x.ledger = audit.Ledger{Max: s.MaxCommands, OnExceed: s.OnExceed.Or(spec.Deny)}
	if x.countsHere() && x.record.Timeline == nil {
		x.record.Timeline = audit.NewTimeline(func() int { return x.process.CommandPid() })
	}
	if x.Plan.Counter != wrap.CounterOuter || x.budget.Open() {
		return nil
	}
	var ok bool
	if x.budget, ok = enclosing.OpenBudget(s.MaxCommands, s.OnExceed.Or(spec.Deny)); !ok {
		return &spec.Problem{Field: "max_commands", On: x.Resolved.At("max_commands"), Do: "have the outer sandbox count programs",
			Why: "its supervisor has no room for another budget", Help: "end other runs inside it, or use --counter none"}
	}
	return nil
}

func (x *count) countsHere() bool {
	return x.Plan.Counter == wrap.CounterNotify || x.Plan.Counter == wrap.CounterPtrace
}

// listen registers for the ends of programs.
func (x *count) listen(h *launch.Hooks) {
	if t := x.record.Timeline; t != nil {
		h.Wait = append(h.Wait, launch.Waiter{FD: t.Watch(), Event: t.NoteEnds})
	}
}

// takeOuterCount takes over the count of the outer sbx.
func (x *count) takeOuterCount() {
	if x.Plan.Counter != wrap.CounterOuter {
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
	n := x.Resolved.Spec.MaxCommands
	if refused > 0 && n.Set {
		rule := "max_commands: " + strconv.Itoa(n.Value)
		x.record.Violations.Add(audit.Violation{Kind: "command", At: x.record.EndedAt, Action: listen.Execute, Rule: rule,
			AllowWith: "max_commands: " + strconv.Itoa(n.Value+refused), Count: refused})
		x.refusals += refused
		x.Voice.print(rule + ": " + strconv.Itoa(refused) + " more were denied")
	}
}

// recordCounts puts the counts into the record.
func (x *count) recordCounts() {
	if x.record.Timeline != nil {
		x.record.Timeline.Close()
	}
	switch x.Plan.Counter {
	case wrap.CounterNotify:
		x.record.Commands = spec.Some(x.ledger.Commands(x.Plan.Counter.String()))
	case wrap.CounterPtrace:
		x.record.Commands = spec.Some(x.tracer.Commands())
	}
}

// attachTracer makes the supervisor the tracer of the command, which has stopped before its first
// program, if programs are counted by ptrace.
func (x *count) attachTracer() error {
	if x.Plan.Counter != wrap.CounterPtrace {
		return nil
	}
	wake, err := launch.Children()
	if err != nil {
		return err
	}
	t, err := trace.Attach(x.process.CommandPid(), &x.ledger, trace.Options{
		Wake: wake, Reaped: x.process.Collected, Started: x.record.Timeline.Executed, Debugger: x.explainDebugger, Exceeded: func() { x.stop("max_commands") },
		Refused: func(tid int, program string) {
			x.recordDenial(&listen.Refusal{TID: tid, Cause: listen.ByBudget, Action: listen.Execute, Target: program})
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

// checkTracer fails unless the tracer has attached to the command, which has been released.
func (x *count) checkTracer() error {
	if x.tracer == nil || x.tracer.Started() {
		return nil
	}
	return &spec.Problem{Do: "count programs by ptrace", Why: launch.TracerOutranked, Help: "leave --counter out"}
}

// settleFor is how long the supervisor waits for the command to stop after a terminal's
// stop signal, which it passes on, before it stops itself.
const settleFor = 100 * time.Millisecond

// awaitStop waits until the command has stopped.
func (x *count) awaitStop() {
	if x.tracer != nil {
		x.tracer.Settle(settleFor)
	}
}

// explainDebugger explains, once, why a debugger fails inside the sandbox.
func (x *count) explainDebugger(int) {
	if x.Voice.Muted() {
		return
	}
	x.Voice.Say("ptrace is denied inside: a process has one tracer, and it counts programs here")
	x.Voice.Say("hint: --counter notify (Linux 6.0 or newer) or --counter none leaves ptrace to debuggers")
}
