package main

import (
	"errors"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch"
)

// errDryRun ends a run that was only to be planned.
var errDryRun = errors.New("dry run")

// refuse tells why the command does not start, to the person and the record.
func (x *execution) refuse(err error) int {
	if err == errDryRun {
		return exitOK
	}
	defer x.unmake() // the command does not write what a profile made for it
	if usage, ok := err.(usageError); ok {
		x.std.say(usage.Error())
		return exitUsage
	}
	if x.process != nil {
		x.process.Kill()
	}
	x.egress.relay.Kill()
	x.narrowed()
	problems := spec.AsProblems(err)
	for _, p := range problems {
		x.std.problem(p)
	}
	x.record.Error = audit.Refused(problems[0])
	// Nothing ran, so nothing held.
	x.record.Enforcement, x.record.AccessMode, x.record.Rung = nil, spec.AccessUnset, spec.Opt[wrap.Rung]{}
	x.record.EndedAt = time.Now()
	if x.open() != nil { // already told, or the refusal is about that
		return exitRefused
	}
	x.record.Supervisor = audit.Self()
	if err := x.sink.Close(x.record); err != nil && !x.has("q") {
		x.std.problem(spec.AsProblems(err)[0])
	}
	return exitRefused
}

// guard takes note of the protected files as they are before the command runs.
func (x *execution) guard() {
	w := x.plan.Watch
	if len(w.Trees) == 0 && len(w.Protected) == 0 && len(w.Masked) == 0 && len(w.Renew) == 0 {
		return
	}
	leads := func(rel string) bool { _, ok := wrap.LeadsToProtected(rel); return ok }
	x.sweep = &audit.Sweep{Watch: w, Held: x.held, Known: x.host.Known(), Cut: x.host.SearchCut != "",
		Match: isProtected, Leads: leads, Run: x.sink.Run}
	x.watch = audit.NewWatch(w, x.sweep)
	x.patrol = newPatrol(x.sweep)
	if len(w.Worktrees) > 0 {
		x.linked = audit.NewWorktrees(x.sweep, x.watch)
	}
}

// supervise waits for the command, looks after what must be looked after while
// it runs and when it has ended, and gives the exit status.
func (x *execution) supervise() (status int) {
	if !x.plan.OwnGroup { // a terminal there is to be taken back
		leave(0, 1)
	}
	x.std.voice = &voice{}
	defer x.std.finish()
	var found audit.Swept
	hooks := &launch.Hooks{Signals: x.signals, Below: x.below}
	hooks.Idle = func() {
		x.look(hooks, &found)
		x.listenAudit(hooks)
		audit.Mend(audit.StateDir(x.environ, x.home()))
		launch.Slim()
	}
	hooks.Ended = func(e launch.Exit) {
		x.clock.lap("run")
		x.auditEnded()
		x.relayEnded()
		x.narrowed()
		x.swept(&found)
		status = x.finish(e)
		x.clock.lap("finish")
	}
	defer x.bounds.Close()
	hooks.Limits = x.bounds.Waiters()
	x.hearRelay(hooks)
	x.listen(hooks)
	x.listenNarrow(hooks)
	x.listenAgent(hooks)
	x.listenProgress(hooks)
	hooks.Stop = x.settle
	end := x.process.Supervise(hooks)
	if sig := unix.Signal(end.Signal); status == 128+end.Signal && x.process.Typed(x.signals, sig) {
		x.interrupted = sig // a shell that waits ends its loop or script by that, not by the status
	}
	x.clock.lap("teardown")
	return status
}

// look begins to watch what could appear in the writable trees.
func (x *execution) look(hooks *launch.Hooks, found *audit.Swept) {
	if x.sweep == nil {
		return
	}
	if err := x.watch.Begin(time.Now()); err != nil {
		x.unwatched(spec.AsProblems(err)[0])
	}
	x.watch.Masks(x.process.MaskFolder(), x.plan.Watch.Folders)
	drain := func() { x.sweepAt(x.watch.Drain(time.Now()), found) }
	x.again = &renewer{x: x, hooks: hooks, drain: drain, timer: -1}
	if len(x.plan.Watch.Trees) > 0 {
		x.patrols(hooks, found)
	}
	if x.watch.FD() < 0 {
		x.lookByItself(hooks, found)
		return
	}
	hooks.Wait = append(hooks.Wait, launch.Waiter{FD: x.watch.FD(), Event: func() { drain(); x.again.look() }})
	x.again.look()
	for x.watch.Widen(64) {
	}
	drain() // what came into being before the watch began
}

// sweepAt sweeps at once what the watch tells of, and notes what it is told.
func (x *execution) sweepAt(told []audit.Notice, found *audit.Swept) {
	for _, n := range told {
		switch n.What {
		case audit.Appeared:
			found.Add(x.sweep.At(n.Path))
		case audit.Opened:
			x.opened(n.Path, n.At)
		}
	}
}

// swept is the last look, when nothing runs any more.
func (x *execution) swept(found *audit.Swept) {
	if x.sweep == nil {
		return
	}
	if x.watch.FD() >= 0 {
		x.sweepAt(x.watch.Drain(time.Now()), found)
	}
	if x.again != nil {
		x.again.end()
	}
	x.record.Protected = x.watch.Finish(time.Now())
	x.noteBare()
	x.noteRemoved()
	x.watch.Close()
	x.patrolled(found)
	if len(x.plan.Watch.Trees) > 0 { // else there was nothing to sweep
		found.Add(x.sweep.End())
		x.record.Swept = spec.Some(*found)
		x.noteSwept(*found)
	}
	x.sweep.Close()
	x.clock.lap("sweep")
}

// noteRemoved says whose protections went with what the command removed.
func (x *execution) noteRemoved() {
	if x.linked == nil {
		return
	}
	for _, admin := range x.linked.Removed() {
		x.weaken(wrap.FieldProtected, "the worktree of "+admin+" was removed inside, and its protections with it")
	}
}

// weaken says in the record's line of a field why it held less.
func (x *execution) weaken(f spec.Field, why string) {
	for i := range x.record.Enforcement {
		if e := &x.record.Enforcement[i]; e.Field == f {
			e.Weaken(wrap.Degraded, why)
		}
	}
}

func isProtected(rel string) bool {
	_, ok := wrap.IsProtectedName(rel)
	return ok
}

// noteSwept turns what was moved away into violations, and tells of the first and of
// how many there are.
func (x *execution) noteSwept(found audit.Swept) {
	for _, m := range found.Moved {
		x.record.Violations.Add(audit.Violation{Kind: "filesystem", At: time.Now(), Action: "create", Target: m.Path,
			Rule: string(wrap.FieldProtected), Act: x.plan.Made(m.Path, m.Kind == "link")})
	}
	const unlooked = "not all was looked at for protected names: "
	if found.Early != "" {
		x.weaken(wrap.FieldProtected, unlooked+found.Early)
		if !x.has("q") {
			x.std.say(unlooked + spec.Shown(found.Early) + andMore(len(found.Cuts)-1))
		}
	}
	if x.quiet() {
		return
	}
	if len(found.Moved) > 0 {
		m := &found.Moved[0]
		line := string(wrap.FieldProtected) + ": " + spec.Name(m.Path) + " came into being and was moved to " + spec.Name(m.MovedTo)
		if m.Why != "" {
			line += ": " + m.Why
		}
		line += andMore(len(found.Moved) - 1 + found.Omitted)
		x.std.say(line + wouldAllow(x.advice(x.plan.Made(m.Path, m.Kind == "link"))))
	}
	if len(found.Cuts) > 0 && found.Early == "" {
		x.std.say(unlooked + spec.Shown(found.Cuts[0]) + andMore(len(found.Cuts)-1))
	}
}

// andMore tells of what the record alone lists.
func andMore(n int) string {
	if n <= 0 {
		return ""
	}
	return " (and " + strconv.Itoa(n) + " more, see the record)"
}

// finish writes the record for the last time and gives the exit status.
func (x *execution) finish(e launch.Exit) int {
	r := &x.record
	r.EndedAt = time.Now()
	x.outerCounted()
	x.agentEnded()
	by, status := x.endedBy(e)
	x.remove(e)
	if x.neverStarted(e) {
		by, status = "supervisor", exitRefused
		x.std.say("bwrap ended before the command was started")
	}
	if p := x.tooLarge(); p != nil && by == "command" && status == exitRefused { // pid 1 had no memory left to say so
		by = "supervisor"
		x.std.problem(p)
	}
	r.Exit = audit.Exit{EndedBy: by, Code: spec.Some(status)}
	if e.Signal != 0 && e.Known {
		r.Exit.Signal = spec.Some(e.Signal)
	}
	x.counted()
	x.noteLimits(e, r.EndedAt)
	x.noteUsage(e)
	x.artifacts()
	r.Violations.Advise(x.advice)
	if err := x.sink.Close(*r); err != nil {
		x.std.problem(spec.AsProblems(err)[0])
	}
	x.held.Close()
	return status
}

// artifacts lists what a job left in /output.
func (x *execution) artifacts() {
	j := x.resolved.Job
	if j == nil || j.Output.Real == "" {
		return
	}
	list, omitted, err := artifactsOf(j.Output.Real)
	if err == nil {
		x.record.Artifacts, x.record.ArtifactsOmitted = spec.Some(list), omitted
	} else {
		x.std.say("cannot list " + spec.Word(j.Output.Real) + ": " + err.Error())
	}
}
