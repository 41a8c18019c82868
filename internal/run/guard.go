package run

import (
	"slices"
	"strconv"
	"time"

	"sbx/audit"
	"sbx/audit/guard"
	"sbx/seccomp"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/defaults"
	"sbx/wrap/launch"
)

// guarding watches over the protected files.
type guarding struct {
	*events
	sweep  *guard.Sweep // nil if nothing is to be watched
	watch  *guard.Watch
	linked *guard.Worktrees // git worktrees that the command can remove; nil for none
	again  *renewer         // nil until the watch begins
	patrol *patrol
	masks  masks
	found  audit.Swept
}

// rememberProtected remembers the protected files as they are before the command runs.
func (x *guarding) rememberProtected() {
	w := x.Plan.Watch
	if len(w.Trees) == 0 && len(w.Protected) == 0 && len(w.Masked) == 0 && len(w.Renew) == 0 {
		return
	}
	x.sweep = x.newSweep()
	x.watch = guard.NewWatch(w, x.sweep)
	x.patrol = &patrol{Patrol: guard.NewPatrol(x.sweep), timer: -1}
	if len(w.Worktrees) > 0 {
		x.linked = guard.NewWorktrees(x.sweep, x.watch)
	}
}

func (x *guarding) newSweep() *guard.Sweep {
	return &guard.Sweep{Watch: x.Plan.Watch, Held: x.held, Known: x.Host.Known(), Cut: x.Host.SearchCut != "",
		Match: isProtected, Leads: defaults.LeadsToProtected, Run: x.sink.Run}
}

// startWatch begins to watch the writable trees for protected files that appear.
func (x *guarding) startWatch(hooks *launch.Hooks) {
	if x.sweep == nil {
		return
	}
	if err := x.watch.Begin(time.Now()); err != nil {
		x.unwatched(spec.AsProblems(err)[0])
	}
	x.watch.Masks(x.process.MaskDir(), x.Plan.Watch.MaskedDirs)
	x.again = &renewer{events: x.events, watch: x.watch, hooks: hooks, drain: x.drain, timer: -1}
	if len(x.Plan.Watch.Trees) > 0 {
		x.patrol.begin(hooks, &x.found, x.process.Listener() < 0 || x.Plan.Notify < seccomp.NotifyOpens)
	}
	if x.watch.FD() < 0 {
		x.pollTrees(hooks)
		return
	}
	hooks.Wait = append(hooks.Wait, launch.Waiter{FD: x.watch.FD(), Event: func() { x.drain(); x.again.check() }})
	x.again.check()
	for x.watch.Widen(64) {
	}
	x.drain() // files that were created before the watch began
}

func (x *guarding) drain() { x.moveReported(x.watch.Drain(time.Now())) }

// pollTrees searches the trees at intervals, if they cannot be watched.
func (x *guarding) pollTrees(hooks *launch.Hooks) {
	look := func() {
		x.moveReported(x.watch.Poll(time.Now()))
		x.again.check()
	}
	w, ok := launch.Every(guard.LookEvery, look)
	if !ok {
		return
	}
	hooks.Wait = append(hooks.Wait, w)
	look()
}

// unwatched warns that protected files will be noticed late.
func (x *guarding) unwatched(p *spec.Problem) {
	if !x.Voice.Quiet {
		x.Voice.Problem(p)
	}
	for _, f := range []spec.Field{wrap.FieldProtected, wrap.FieldUnmade} {
		x.weaken(f, "nothing could be watched while the command ran, and it was looked for twice a second instead: "+p.Why)
	}
}

// moveReported moves away at once the protected files that the watch reports, and records them.
func (x *guarding) moveReported(told []audit.Notice) {
	for _, n := range told {
		switch n.What {
		case audit.Appeared:
			x.found.Add(x.sweep.At(n.Path))
		case audit.Opened:
			x.masks.opened(n.Path, n.At)
		}
	}
}

// end looks a last time, when no process of the sandbox is left.
func (x *guarding) end() {
	if x.sweep == nil {
		return
	}
	if x.watch.FD() >= 0 {
		x.drain()
	}
	if x.again != nil {
		x.again.end()
	}
	x.record.Protected = x.watch.Finish(time.Now())
	x.noteBare()
	x.noteRemoved()
	x.watch.Close()
	x.checkAtEnd()
	x.Timings.Lap("sweep")
}

// checkAtEnd checks the denied files and searches for protected files that were created.
func (x *guarding) checkAtEnd() {
	x.found.Add(x.patrol.end())
	if x.patrol.Full() {
		x.weaken(wrap.FieldUnmade, "more protected names were denied than were looked at again while the command ran")
	}
	if len(x.Plan.Watch.Trees) > 0 { // otherwise there was nothing to sweep
		x.found.Add(x.sweep.End())
		x.record.Swept = spec.Some(x.found)
		x.noteSwept()
	}
	x.sweep.Close()
}

// noteRemoved records which protections were lost because the command removed a directory.
func (x *guarding) noteRemoved() {
	if x.linked == nil {
		return
	}
	for _, admin := range x.linked.Removed() {
		x.weaken(wrap.FieldProtected, "the worktree of "+admin+" was removed inside, and its protections with it")
	}
}

func isProtected(rel string) bool {
	_, ok := defaults.IsProtectedName(rel)
	return ok
}

// noteSwept records the files that were moved away as violations. It prints the first of
// them and their number.
func (x *guarding) noteSwept() {
	found := &x.found
	for _, m := range found.Moved {
		x.record.Violations.Add(audit.Violation{Kind: "filesystem", At: time.Now(), Action: "create", Target: m.Path,
			Rule: string(wrap.FieldProtected), Act: x.Plan.CreateAct(m.Path, m.Kind == "link")})
	}
	x.refusals += len(found.Moved) + found.Omitted
	const unlooked = "not all was looked at for protected names: "
	if found.Early != "" {
		x.weaken(wrap.FieldUnmade, unlooked+found.Early)
		if !x.Voice.Quiet {
			x.Voice.Say(unlooked + spec.Shown(found.Early) + andMore(len(found.Cuts)-1))
		}
	}
	if x.Voice.Muted() {
		return
	}
	if len(found.Moved) > 0 {
		m := &found.Moved[0]
		line := string(wrap.FieldProtected) + ": " + spec.Name(m.Path) + " was created and moved to " + spec.Name(m.MovedTo)
		if m.Why != "" {
			line += ": " + m.Why
		}
		line += andMore(len(found.Moved) - 1 + found.Omitted)
		x.Voice.Say(line + wouldAllow(x.advice(x.Plan.CreateAct(m.Path, m.Kind == "link"))))
	}
	if len(found.Cuts) > 0 && found.Early == "" {
		x.Voice.Say(unlooked + spec.Shown(found.Cuts[0]) + andMore(len(found.Cuts)-1))
	}
}

// andMore says how many further ones only the record lists.
func andMore(n int) string {
	if n <= 0 {
		return ""
	}
	return " (and " + strconv.Itoa(n) + " more, see the record)"
}

// maxMasked is how many masked directories are recorded as opened. A program that walks
// over a tree opens all of them, and the list must have room for other denials.
const maxMasked = 20

// masks are the masked directories that the command opened.
type masks struct {
	*events
	seen []string // their paths inside
}

// opened records that a masked directory was opened, and prints the first one. inside is
// "" for a directory that is hidden on every machine.
func (x *masks) opened(inside string, at time.Time) {
	f, what := &wrap.MaskedDir{For: wrap.FieldSecrets}, "a directory"
	if i := slices.IndexFunc(x.Plan.Watch.MaskedDirs, func(f wrap.MaskedDir) bool { return f.Inside == inside }); i >= 0 {
		f, what = &x.Plan.Watch.MaskedDirs[i], spec.Name(inside)
	}
	if !slices.Contains(x.seen, inside) {
		if len(x.seen) == maxMasked {
			x.record.Violations.Omit(1)
			return
		}
		x.seen = append(x.seen, inside)
	}
	v := audit.Violation{Kind: "filesystem", At: at, Action: "open", Target: inside}
	v.Rule = string(f.For)
	if inside != "" {
		x.explain(&v)
	}
	x.record.Violations.Add(v)
	x.printOnce("open masked "+string(f.For), v, what+" is hidden, and looked empty")
}
