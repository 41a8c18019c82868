package listen

import (
	"sbx/internal/sys"
	"time"
)

// sockets answers connects and binds, and holds those that are pending.
type sockets struct {
	copies    copies
	narrowing narrowing
	bound     boundSockets
	clock     clock
	pending   pendingConnects
	connects  connector
	binds     binder
}

// addSockets sets up the part of the listener that answers connects and binds.
func (l *Listener) addSockets(c *Sockets) {
	s := &sockets{}
	l.sockets = s
	s.copies.caller = &l.caller
	s.narrowing = narrowing{copies: &s.copies, answers: &l.answers, egress: c.Egress, describes: c.Describes}
	s.pending.answers, s.pending.clock = &l.answers, &s.clock
	s.pending.interrupt, s.pending.describes = c.Interrupt, c.Describes
	s.connects = connector{paths: &l.paths, answers: &l.answers, Sockets: *c, copies: &s.copies,
		narrowing: &s.narrowing, bound: &s.bound, pending: &s.pending}
	s.binds = binder{&l.paths, &l.answers, &l.rules, &s.copies, &s.narrowing, &s.bound, &s.clock}
	l.starts.inner.narrowing = &s.narrowing
}

// OpenClock returns a timerfd that becomes readable when Tick should be called. It
// returns -1 on failure; every connect is then answered with EAGAIN.
func (s *sockets) OpenClock() int {
	s.clock.fd, _ = sys.Timer(0, 0)
	return s.clock.fd
}

// Tick does the periodic work: it answers the connects that the network denied, cancels
// those whose callers are gone, looks for the files of newly bound sockets and closes
// discarded copies.
func (s *sockets) Tick() {
	sys.Hush(s.clock.fd)
	s.clock.due = time.Time{}
	s.pending.describe()
	if s.pending.count() > 0 {
		s.pending.cancel()
		s.clock.within(patience)
	}
	s.clock.within(s.bound.ask(time.Now()))
	for _, n := range s.narrowing.list {
		s.clock.within(n.sockets.ask(time.Now()))
	}
	if s.copies.discards.work() {
		s.clock.within(patience)
	}
}
