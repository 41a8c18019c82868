package main

import (
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch"
)

// lookByItself looks every now and then, where nothing can be watched.
func (x *execution) lookByItself(hooks *launch.Hooks, found *audit.Swept) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return
	}
	look := func() {
		var b [8]byte
		_, _ = unix.Read(fd, b[:])
		x.sweepAt(x.watch.Look(time.Now()), found)
		x.again.look()
	}
	every := unix.NsecToTimespec(int64(audit.LookEvery))
	_ = unix.TimerfdSettime(fd, 0, &unix.ItimerSpec{Interval: every, Value: every}, nil)
	hooks.Wait = append(hooks.Wait, launch.Waiter{FD: fd, Event: look})
	look()
}

// unwatched says that what happens is seen late.
func (x *execution) unwatched(p *spec.Problem) {
	if !x.has("q") {
		x.std.problem(p)
	}
	for i := range x.record.Enforcement {
		if e := &x.record.Enforcement[i]; e.Field == wrap.FieldProtected {
			e.Weaken(wrap.Degraded, "nothing could be watched while the command ran, and it was looked for twice a second instead: "+p.Why)
		}
	}
}
