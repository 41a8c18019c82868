package main

import (
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/seccomp"
	"sbx/wrap"
	"sbx/wrap/launch"
)

// patrol has the writable trees looked at whenever names may have come into being.
type patrol struct {
	*audit.Patrol
	timer  int  // a timerfd; -1 as long as the command has not run for a while
	armed  bool // the timer is
	under  bool // a round is under way
	made   bool // a name may have come into being since it began
	unseen bool // names are made that nobody hears of
}

func newPatrol(s *audit.Sweep) *patrol { return &patrol{Patrol: audit.NewPatrol(s), timer: -1} }

// patrols begins to look.
func (x *execution) patrols(hooks *launch.Hooks, found *audit.Swept) {
	p := x.patrol
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return // the sweep at the end looks all the same
	}
	p.timer, p.unseen = fd, x.process.Listener() < 0 || x.plan.Notify < seccomp.NotifyOpens
	hooks.Wait = append(hooks.Wait, launch.Waiter{FD: fd, Event: func() { p.look(found) }})
	p.arm(audit.PatrolEvery)
}

// makes is told that a name may come into being.
func (p *patrol) makes() {
	p.made = true
	if !p.armed {
		p.arm(audit.PatrolEvery)
	}
}

func (p *patrol) arm(d time.Duration) {
	if p.timer < 0 {
		return
	}
	p.armed = true
	_ = unix.TimerfdSettime(p.timer, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}, nil)
}

// look goes on with a round. Where nothing was made meanwhile it is the last one for now.
func (p *patrol) look(found *audit.Swept) {
	var b [8]byte
	_, _ = unix.Read(p.timer, b[:])
	if !p.under {
		p.under, p.made = true, false
	}
	swept, over := p.Look(audit.PatrolSlice)
	found.Add(swept)
	p.under, p.armed = !over, false
	switch {
	case p.under || p.made:
		p.arm(audit.PatrolEvery)
	case p.unseen:
		p.arm(audit.LookEvery)
	}
}

// patrolled ends it, when nothing runs any more.
func (x *execution) patrolled(found *audit.Swept) {
	found.Add(x.patrol.End())
	if x.patrol.timer >= 0 {
		unix.Close(x.patrol.timer)
	}
	if x.patrol.Full() {
		x.weaken(wrap.FieldProtected, "more protected names were refused than were looked at again while the command ran")
	}
}
