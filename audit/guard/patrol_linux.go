package guard

import (
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/dirs"
)

// Patrol looks for protected names, and for links through which git writes, while the command runs:
// first at the names that the command was denied, then in every directory of the writable trees, a
// few at a time. It looks everywhere because a program that changes a path while the supervisor
// checks that path can create a name in any directory. Only one thread at a time may use a Patrol,
// and must not use its Sweep otherwise meanwhile.
type Patrol struct {
	s       *Sweep
	targets []string
	turn    int // the index of the target to look at next during a round
	is      map[string]bool
	full    bool // there were more targets than maxTargets

	queue queue
	tree  int  // the index of the tree to look at next
	under bool // a round has begun
	rel   string
	f     dirs.Reader // the directory that is being read; its fd -1 for none
}

// The pace of a patrol: it takes a hundredth of a processor, however large the trees are.
const (
	PatrolEvery = 50 * time.Millisecond
	PatrolSlice = 500 * time.Microsecond
)

// maxTargets is the number of denied names that every round looks at, and maxPatrolled the number
// of bytes of directory names that a round keeps. The sweep at the end covers the rest.
const (
	maxTargets   = 256
	maxPatrolled = 32 << 20
)

// NewPatrol returns a patrol that moves names away by s.
func NewPatrol(s *Sweep) *Patrol {
	return &Patrol{s: s, is: map[string]bool{}, f: dirs.Reader{FD: -1, Buf: make([]byte, 4<<10)}}
}

// Refused notes a path of the host that the command was denied to create.
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

// Full reports whether more names were denied than the patrol looks at.
func (p *Patrol) Full() bool { return p.full }

// Walk begins or continues a round for the given time and reports whether the round is over.
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

// begin starts a round with the targets.
func (p *Patrol) begin(found *audit.Swept) {
	p.s.prepare()
	for _, path := range p.targets {
		found.Add(p.s.At(path))
	}
	p.under, p.tree, p.queue.next, p.queue.room = true, 0, len(p.queue.list), maxPatrolled
}

// again looks at the targets during a round, which takes minutes in large trees: at all of them or,
// if there is too little time, at the next ones in turn.
func (p *Patrol) again(found *audit.Swept, until time.Time) {
	for range p.targets {
		p.turn = (p.turn + 1) % len(p.targets)
		found.Add(p.s.At(p.targets[p.turn]))
		if time.Now().After(until) {
			return
		}
	}
}

// enter opens the next directory, if that is possible, and reports whether there was one.
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

// read looks at one buffer of the directory's names: a large directory must not hold up the
// supervisor.
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
		if (e.Kind == unix.DT_LNK || e.Kind == unix.DT_UNKNOWN) && p.s.link(found, t, p.f.FD, sub, name) {
			continue
		}
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

// End looks at the targets once more, after the last process of the command has ended.
func (p *Patrol) End() (found audit.Swept) {
	p.leave()
	for _, path := range p.targets {
		found.Add(p.s.At(path))
	}
	return found
}
