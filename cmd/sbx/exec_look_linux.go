package main

import (
	"time"

	"sbx/audit"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch"
)

// lookByItself looks every now and then, where nothing can be watched.
func (x *execution) lookByItself(hooks *launch.Hooks, found *audit.Swept) {
	look := func() {
		x.sweepAt(x.watch.Look(time.Now()), found)
		x.again.look()
	}
	w, ok := launch.Every(audit.LookEvery, look)
	if !ok {
		return
	}
	hooks.Wait = append(hooks.Wait, w)
	look()
}

// unwatched says that what happens is seen late.
func (x *execution) unwatched(p *spec.Problem) {
	if !x.has("q") {
		x.std.problem(p)
	}
	x.weaken(wrap.FieldProtected, "nothing could be watched while the command ran, and it was looked for twice a second instead: "+p.Why)
}
