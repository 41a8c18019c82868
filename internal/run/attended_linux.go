package run

import (
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/audit/guard"
	"sbx/audit/listen"
	"sbx/seccomp"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch"
	"sbx/wrap/outer"
)

// Attended is a run whose processes others start: a container whose first process an OCI
// runtime starts, and the processes that the container engine adds. sbx answers and counts
// their system calls, and keeps a record as for a command of its own.
type Attended struct {
	x      *Started
	inside func(func())
	late   bool // limits.timeout ended it
}

// Container describes the container to attend.
type Container struct {
	Ask    *Ask
	Record audit.Record
	Sink   *audit.Sink
	Of     *outer.Contained
	Held   *guard.Snapshot
	First  func() int   // returns the first process; 0 as long as there is none
	End    func()       // ends the container
	Inside func(func()) // calls a function that sees the container's files at their paths
	// Stands reports whether a program (or a directory to write in) would exist at a path if
	// the container could see all of its files.
	Stands func(path string, program bool) bool
}

// Attend prepares to attend a container. It is called before the first process exists.
func Attend(c Container) (*Attended, error) {
	p := newPrepared(planned{journal: &journal{Ask: c.Ask, record: c.Record, sink: c.Sink}, Host: *c.Of.Host, Plan: c.Of.Plan})
	p.held, p.asked = c.Held, &c.Of.Asked
	p.Plan.Limits = wrap.Limits{Timeout: p.Plan.Limits.Timeout} // the OCI runtime enforces the others, and reports nothing of them
	x := newStarted(p)
	x.end, x.stands = c.End, c.Stands
	x.record.Timeline = audit.NewTimeline(c.First)
	if len(p.Plan.Watch.Trees) > 0 {
		x.guard.sweep = x.guard.newSweep()
		x.guard.patrol = &patrol{Patrol: guard.NewPatrol(x.guard.sweep), timer: -1}
	}
	return &Attended{x: x, inside: c.Inside}, x.count.begin()
}

// Write writes the record as it is now.
func (a *Attended) Write() error { return a.x.sink.Write(a.x.record) }

// Listener answers the system calls that arrive at fd, the seccomp listener of one process
// and its descendants; root is the container's root directory, opened with O_PATH. Only
// Take may be called concurrently on several listeners.
func (a *Attended) Listener(fd, root int) *listen.Listener {
	x := a.x
	if x.programs == nil {
		x.programs = listen.Learn(root, &x.Plan.Programs)
	}
	c := x.listenerConfig(fd, root)
	if x.guard.sweep != nil {
		x.guardNames(&c)
	}
	return listen.New(&c)
}

// Waiters returns the waiters that report the ends of programs, and when to look for
// protected names that were created after all.
func (a *Attended) Waiters() []launch.Waiter {
	t, g := a.x.record.Timeline, &a.x.guard
	hooks := launch.Hooks{Wait: []launch.Waiter{{FD: t.Watch(), Event: t.NoteEnds}}}
	if g.sweep != nil {
		g.patrol.begin(&hooks, &g.found, a.x.Plan.Notify < seccomp.NotifyOpens)
	}
	return hooks.Wait
}

// TimedOut notes that limits.timeout has ended the container.
func (a *Attended) TimedOut() { a.late = true }

// Finish writes the final record, when nothing of the container runs any more. unknown
// says why the exit status is not known; "" if it is.
func (a *Attended) Finish(status unix.WaitStatus, unknown string) error {
	x, r := a.x, &a.x.record
	r.EndedAt = time.Now()
	e := launch.Exit{Code: status.ExitStatus(), Known: unknown == ""}
	if status.Signaled() {
		e.Code, e.Signal = 0, int(status.Signal())
	}
	o := outcome{Exit: e, reason: x.ended, timedOut: a.late}
	if r.Exit = o.exit(); unknown != "" {
		r.Exit.Code, r.Container.ExitUnknown = spec.Opt[int]{}, unknown
		if o.reason == "" && !o.timedOut {
			r.Exit = audit.Exit{}
		}
	}
	x.count.recordCounts()
	if x.guard.sweep != nil {
		x.guard.checkAtEnd()
	}
	x.observed()
	x.noteLimits(&o)
	r.Usage.WallMS = spec.Some(r.EndedAt.Sub(r.StartedAt).Milliseconds())
	a.inside(func() { r.Violations.Advise(x.advice) })
	return x.sink.Close(*r)
}
