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
	timer  int  // a timerfd; -1 until the command has run for a while
	armed  bool // the timer is set
	under  bool // a search is in progress
	made   bool // a name may have been created since the search began
	unseen bool // some created names are not reported to sbx
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
	sys.Arm(p.timer, d, 0)
}

// walk continues a search. If no name was created meanwhile, the next search waits for
// one.
func (p *patrol) walk(found *audit.Swept) {
	sys.Hush(p.timer)
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

// end returns what was found, when no process of the sandbox is left.
func (p *patrol) end() audit.Swept {
	if p.timer >= 0 {
		unix.Close(p.timer)
	}
	return p.End()
}
