package listen

import (
	"time"

	"golang.org/x/sys/unix"
)

// clock is a timerfd that expires when Tick should be called.
type clock struct {
	fd  int
	due time.Time // zero if the timer is not set
}

// OpenClock returns a timerfd that becomes readable when Tick should be called. It
// returns -1 on failure; every connect is then answered with EAGAIN.
func (s *sockets) OpenClock() int {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		fd = -1
	}
	s.clock.fd = fd
	return fd
}

// within sets the timer to expire after d, unless it expires earlier already.
func (c *clock) within(d time.Duration) {
	due := time.Now().Add(d)
	if !c.due.IsZero() && c.due.Before(due) {
		return
	}
	c.due = due
	_ = unix.TimerfdSettime(c.fd, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}, nil)
}

// Tick does the periodic work: it answers the connects that the network denied, cancels
// those whose callers are gone, looks for the files of newly bound sockets and closes
// discarded copies.
func (s *sockets) Tick() {
	var buf [8]byte
	_, _ = unix.Read(s.clock.fd, buf[:])
	s.clock.due = time.Time{}
	s.pending.describe()
	if s.pending.count() > 0 {
		s.pending.cancel()
		s.clock.within(patience)
	}
	if wait := s.bound.ask(time.Now()); wait > 0 {
		s.clock.within(wait)
	}
	for _, n := range s.narrowing.list {
		if wait := n.made.ask(time.Now()); wait > 0 {
			s.clock.within(wait)
		}
	}
	if s.copies.discards.work() {
		s.clock.within(patience)
	}
}
