package guard

import (
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/dirs"
)

// Patrol looks for protected names while the command runs: at those that it was
// refused, and then into every directory of the writable trees, a few at a time. It does
// not ask which program may have made a name, nor by which call: one that changes a
// path, or a directory on its way, while the supervisor looks at it can make a name
// anywhere. It is used by one thread at a time, which uses nothing else of its Sweep
// meanwhile.
type Patrol struct {
	s       *Sweep
	targets []string
	turn    int // of the targets, the next one while a round lasts
	is      map[string]bool
	full    bool // targets were left out

	queue queue
	tree  int  // of the trees, the next one
	under bool // a round has begun
	rel   string
	f     dirs.Reader // the directory that is being read; its fd -1 for none
}

// The pace of a patrol: a hundredth of a processor, however much there is to look at.
const (
	PatrolEvery = 50 * time.Millisecond
	PatrolSlice = 500 * time.Microsecond
)

// maxTargets is how many names that were refused are looked at again and again, and
// maxPatrolled how many bytes a round keeps of directories. What is beyond is left to the
// sweep at the end.
const (
	maxTargets   = 256
	maxPatrolled = 32 << 20
)

// NewPatrol makes the patrol of a sweep.
func NewPatrol(s *Sweep) *Patrol {
	return &Patrol{s: s, is: map[string]bool{}, f: dirs.Reader{FD: -1, Buf: make([]byte, 4<<10)}}
}

// Refused takes note of a path of the host that the command was not to make.
func (p *Patrol) Refused(path string) {
	switch {
	case p.is[path]:
	case len(p.targets) == maxTargets:
		p.full = true
	default:
		p.is[path] = true
		p.targets = append(p.targets, path)
	}
}

// Full tells whether more names were refused than are looked at.
func (p *Patrol) Full() bool { return p.full }

// Compare begins a round or goes on with it, and tells whether it is over.
func (p *Patrol) Walk(slice time.Duration) (found audit.Swept, over bool) {
	now := time.Now()
	end := now.Add(slice)
	if p.under {
		p.again(&found, now.Add(slice/2))
	} else {
		p.begin(&found)
	}
	for {
		switch {
		case p.f.FD >= 0:
			p.read(&found)
		case !p.enter():
			p.under = false
			return found, true
		}
		if time.Now().After(end) {
			return found, false
		}
	}
}

// begin begins a round.
func (p *Patrol) begin(found *audit.Swept) {
	p.s.prepare()
	for _, path := range p.targets {
		found.Add(p.s.At(path))
	}
	p.under, p.tree, p.queue.next, p.queue.room = true, 0, len(p.queue.list), maxPatrolled
}

// again looks at what was refused in the midst of a round, which in large trees lasts for
// minutes: at all of it or, in turn, at what there is time for.
func (p *Patrol) again(found *audit.Swept, until time.Time) {
	for range p.targets {
		p.turn = (p.turn + 1) % len(p.targets)
		found.Add(p.s.At(p.targets[p.turn]))
		if time.Now().After(until) {
			return
		}
	}
}

// enter opens the next directory if it can be opened, and tells whether there was one.
func (p *Patrol) enter() bool {
	rel, ok := p.queue.pop()
	if !ok {
		if p.tree == len(p.s.Held.trees) {
			return false
		}
		p.queue.begin(&p.s.Held.trees[p.tree])
		p.tree++
		return true
	}
	fd, err := dirs.OpenBeneath(p.queue.at.fd, rel, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK)
	if err == nil {
		p.rel, p.f.FD = rel, fd
	}
	return true
}

// read looks at as many names of the directory as are read at once: one with many is not
// to hold up the supervisor.
func (p *Patrol) read(found *audit.Swept) {
	if !p.f.Fill() {
		p.leave()
		return
	}
	t := p.queue.at
	for p.f.Buffered() {
		e, ok := p.f.Next()
		if !ok {
			break
		}
		name := string(e.Name)
		sub := dirs.Join(p.rel, name)
		if !p.s.consider(found, t, p.f.FD, sub, name, true) || e.Kind != unix.DT_DIR && e.Kind != unix.DT_UNKNOWN {
			continue
		}
		if !strings.HasSuffix("/"+sub, "/.git/objects") && p.s.worth(t, p.f.FD, sub, name) {
			p.queue.push(name)
		}
	}
}

func (p *Patrol) leave() {
	if p.f.FD >= 0 {
		dirs.Close(p.f.FD)
	}
	p.f = dirs.Reader{FD: -1, Buf: p.f.Buf}
}

// End looks once more at what was refused, when nothing of the command runs any more.
func (p *Patrol) End() (found audit.Swept) {
	p.leave()
	for _, path := range p.targets {
		found.Add(p.s.At(path))
	}
	return found
}
