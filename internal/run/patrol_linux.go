package run

import (
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/audit/guard"
	"sbx/internal/sys"
	"sbx/wrap/launch"
)

// patrol has the writable trees searched whenever protected names may have been created.
type patrol struct {
	*guard.Patrol
	timer  int           // a timerfd; -1 until the command has run for a while
	pause  time.Duration // for which the timer is set; 0 if it is not
	under  bool          // a search is in progress
	made   bool          // a call that may create a name was let through since the search began
	rest   time.Duration // after the last search; 0 if no such call was let through yet
	unseen bool          // some created names are not reported to sbx
}

// begin starts to search. unseen says that some created names are not reported to sbx.
func (p *patrol) begin(hooks *launch.Hooks, found *audit.Swept, unseen bool) {
	fd, err := sys.Timer(0, 0)
	if err != nil {
		return // the sweep at the end finds them
	}
	p.timer, p.unseen = fd, unseen
	hooks.Wait = append(hooks.Wait, launch.Waiter{FD: fd, Event: func() { p.walk(found) }})
	p.arm(guard.PatrolEvery)
}

// noteCreation notes that a name may be created.
func (p *patrol) noteCreation() {
	p.made, p.rest = true, guard.PatrolEvery
	if p.pause == 0 || p.pause > guard.PatrolEvery {
		p.arm(guard.PatrolEvery)
	}
}

func (p *patrol) arm(d time.Duration) {
	if p.timer < 0 {
		return
	}
	p.pause = d
	sys.Arm(p.timer, d, 0)
}

// walk continues a search. If no call that creates a name was let through meanwhile, the next search
// waits for one. But a call that was let through long ago may create its name only now: on a loaded
// machine, or if its path lies in memory that another program supplies late. So there are further
// searches, each after twice the rest of the one before.
func (p *patrol) walk(found *audit.Swept) {
	sys.Hush(p.timer)
	if !p.under {
		p.under, p.made = true, false
	}
	swept, over := p.Walk(guard.PatrolSlice)
	found.Add(swept)
	p.under, p.pause = !over, 0
	switch {
	case p.under || p.made:
		p.arm(guard.PatrolEvery)
	case p.unseen:
		p.arm(guard.LookEvery)
	case p.rest > 0:
		p.rest *= 2
		p.arm(p.rest)
	}
}

// end returns what was found, when no process of the sandbox is left.
func (p *patrol) end() audit.Swept {
	if p.timer >= 0 {
		unix.Close(p.timer)
	}
	return p.End()
}
