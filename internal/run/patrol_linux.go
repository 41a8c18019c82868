package run

import (
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/audit/guard"
	"sbx/wrap/launch"
)

// patrol has the writable trees looked at whenever names may have come into being.
type patrol struct {
	*guard.Patrol
	timer  int  // a timerfd; -1 as long as the command has not run for a while
	armed  bool // the timer is
	under  bool // a round is under way
	made   bool // a name may have come into being since it began
	unseen bool // names are made that nobody hears of
}

// begin begins to look. unseen tells that nobody hears of names that are made.
func (p *patrol) begin(hooks *launch.Hooks, found *audit.Swept, unseen bool) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return // the sweep at the end looks all the same
	}
	p.timer, p.unseen = fd, unseen
	hooks.Wait = append(hooks.Wait, launch.Waiter{FD: fd, Event: func() { p.walk(found) }})
	p.arm(guard.PatrolEvery)
}

// makes is told that a name may come into being.
func (p *patrol) makes() {
	p.made = true
	if !p.armed {
		p.arm(guard.PatrolEvery)
	}
}

func (p *patrol) arm(d time.Duration) {
	if p.timer < 0 {
		return
	}
	p.armed = true
	_ = unix.TimerfdSettime(p.timer, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}, nil)
}

// walk goes on with a round. Where nothing was made meanwhile it is the last one for now.
func (p *patrol) walk(found *audit.Swept) {
	var b [8]byte
	_, _ = unix.Read(p.timer, b[:])
	if !p.under {
		p.under, p.made = true, false
	}
	swept, over := p.Walk(guard.PatrolSlice)
	found.Add(swept)
	p.under, p.armed = !over, false
	switch {
	case p.under || p.made:
		p.arm(guard.PatrolEvery)
	case p.unseen:
		p.arm(guard.LookEvery)
	}
}

// end is for when nothing runs any more.
func (p *patrol) end() audit.Swept {
	if p.timer >= 0 {
		unix.Close(p.timer)
	}
	return p.End()
}
