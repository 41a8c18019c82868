package run

import (
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/audit/guard"
	"sbx/audit/listen"
	"sbx/seccomp"
	"sbx/spec"
	"sbx/spec/agent"
	"sbx/wrap"
	"sbx/wrap/defaults"
	"sbx/wrap/launch"
)

// Wait waits for the command, handles events while it runs, cleans up after it and ends
// the run.
func (x *Started) Wait() (ended Ended) {
	if !x.Plan.OwnGroup { // the supervisor must become the terminal's foreground group again
		closeCopies(0, 1)
	}
	hooks := &launch.Hooks{Below: x.backend.below}
	told := progress{count: &x.count, watched: &x.watched, fd: x.Progress}
	live := newLive(&told)
	hooks.Idle = func() {
		x.guard.startWatch(hooks)
		x.landlog.listen(hooks)
		x.observed()
		live.listen(hooks)
		audit.Mend(audit.StateDir(x.Inputs.Environ, x.Inputs.Home))
		launch.ReleaseText()
	}
	hooks.Ended = func(e launch.Exit) {
		x.Timings.Lap("run")
		x.landlog.end()
		x.egress.readLastMessages()
		x.brokered.askSummary()
		x.narrowing.end()
		x.guard.end()
		live.end()
		ended = x.finish(e)
		told.ended(ended.Status)
		x.Timings.Lap("finish")
	}
	defer x.bounds.Close()
	hooks.Limits = x.bounds.Waiters()
	x.egress.listenToRelay(hooks)
	x.brokered.listen(hooks)
	x.listen(hooks)
	x.narrowing.listen(hooks)
	x.watched.listen(hooks)
	x.count.listen(hooks)
	told.listen(hooks)
	hooks.Stop = x.count.awaitStop
	end := x.process.Supervise(hooks)
	if sig := unix.Signal(end.Signal); ended.Status == 128+end.Signal && x.process.Typed(sig) {
		ended.Interrupted = sig
	}
	x.bound()
	x.Timings.Lap("teardown")
	return ended
}

// listen creates the listener that answers the sandbox's notified calls, if there is one.
func (x *Started) listen(h *launch.Hooks) {
	if x.process.Listener() < 0 {
		return
	}
	c := x.listenerConfig(x.process.Listener(), x.process.Root())
	if x.guard.sweep != nil {
		x.guardNames(&c)
	}
	if x.guard.linked != nil {
		c.Remove = x.guard.linked.Remove
	}
	if x.Plan.Sockets {
		c.Sockets = &listen.Sockets{Named: x.Plan.Watch.Sockets, Interrupt: launch.Interrupt, Describes: x.Describe != wrap.DescribeNone}
		if x.Plan.Relay {
			c.Sockets.Egress = x.egress.lead
		}
	}
	l := listen.New(&c)
	x.Timings.counts(&l.Answered)
	h.Calls = &launch.Calls{FD: c.FD, Take: l.Take, Answer: l.Answer, Apart: !x.Resolved.SideDoors}
	if c.Sockets != nil {
		h.Wait = append(h.Wait, launch.Waiter{FD: l.OpenClock(), Event: l.Tick})
		if q := x.egress.lookups; q != nil {
			h.Wait = append(h.Wait, launch.Waiter{FD: q.FD, Event: q.Hear})
		}
	}
}

// listenerConfig returns the part of the configuration that every listener of the run has: fd is
// the kernel's seccomp listener, root the sandbox's root directory.
func (x *Started) listenerConfig(fd, root int) listen.Config {
	c := listen.Config{FD: fd, Root: root, Programs: x.programs, Refused: x.recordDenial,
		Rules: listen.Rules{Views: x.Plan.Watch.Views, Forbids: func(string) bool { return false }, Part: defaults.IsProtectedPart,
			Guards: func(string) (guard.Kind, string) { return guard.Unguarded, "" }},
		Counts: listen.Counts{Exceeded: func() { x.stop("max_commands") }}}
	if x.Plan.Filter.NotifyReads {
		c.Secrets = x.Plan.Secrets()
	}
	if x.Plan.Counter == wrap.CounterNotify {
		c.Counts.Ledger, c.Counts.Timeline, c.ForNested = &x.count.ledger, x.record.Timeline, x.Plan.ForNested
		// An inherited descriptor may be a connection to a model.
		if x.Plan.SeesReach() && x.Agent.Agent != 0 && len(x.Keep) == 0 {
			x.count.ledger.Own, c.Aside = spec.Some(0), agent.Aside(x.Agent.Agent)
		}
	}
	if x.Plan.Base == wrap.BaseHost {
		c.Rules.Closed = x.Plan.Closed
	}
	if x.Plan.Notify >= seccomp.NotifyOpens {
		if x.record.Opened == nil {
			x.record.Opened = &audit.Openings{}
		}
		c.Opened = x.record.Opened
	}
	return c
}

// guardNames makes the listener deny the names that the sweep would remove, and the patrol search
// where the listener denied one.
func (x *Started) guardNames(c *listen.Config) {
	r := &c.Rules
	x.guard.rules(r)
	c.Makes = x.guard.patrol.noteCreation
	c.Refused = func(refusal *listen.Refusal) {
		x.recordDenial(refusal)
		if path, ok := r.Host(refusal.Target); ok && refusal.Cause == listen.ByName {
			x.guard.patrol.Refused(strings.Clone(path))
			x.guard.patrol.noteCreation()
		}
	}
}

// rules makes the listener deny the creation of names that the sweep would remove.
func (x *guarding) rules(r *listen.Rules) {
	s := x.sweep
	r.Forbids, r.Empty, r.Part, r.Links = s.Forbids, s.Empty, s.Part, s.Links
	r.Guards, r.Guarded = s.Guards, s.Guarded
}

// finish writes the final record.
func (x *Started) finish(e launch.Exit) Ended {
	r := &x.record
	r.EndedAt = time.Now()
	x.count.takeOuterCount()
	x.watched.finish()
	o := outcome{Exit: e, reason: x.ended, timedOut: x.bounds.TimedOut(), killed: x.bounds.Ended()}
	x.backend.removeContainer(&o)
	if o.neverStarted = x.backend.neverStarted(&o); o.neverStarted {
		x.Voice.Say("bwrap ended before the command was started")
	}
	if by, status := o.endedBy(); by == "command" && status == StatusRefused {
		if p := x.tooLarge(); p != nil { // pid 1 had no memory left to report it
			o.tooLarge = true
			x.Voice.Problem(p)
		}
	}
	r.Exit = o.exit()
	x.count.recordCounts()
	x.observed()
	x.noteLimits(&o)
	x.noteUsage(&e)
	x.noteArtifacts()
	r.Violations.Advise(x.advice)
	if err := x.sink.Close(*r); err != nil {
		x.Voice.Problem(spec.AsProblems(err)[0])
	} else if x.Voice.Muted() && !x.Voice.Quiet && x.refusals > 0 {
		x.Voice.Say(quantity(x.refusals, "refusal", "refusals") + ": sbx show " + x.shownAs())
	}
	x.held.Close()
	return Ended{Status: r.Exit.Code.Value, Record: *r, Learned: x.learned()}
}

// observed records which kinds of violations this run could observe.
func (x *Started) observed() {
	x.record.ObservedKinds, x.record.ObservedFiles = x.Plan.Observed(), x.Plan.ObservedFiles()
	if l := x.landlog.log; l != nil && l.Heard() {
		x.record.ObservedFiles = append(x.record.ObservedFiles, "reads")
	}
	if x.tap != nil || x.record.Broker != nil {
		x.record.ObservedKinds = append(x.record.ObservedKinds, "tool")
	}
}
