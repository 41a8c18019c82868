package listen

import (
	"time"

	"golang.org/x/sys/unix"
)

// clock is when Tick is to be called: a timer.
type clock struct {
	fd  int
	due time.Time // zero for never
}

// OpenClock makes a descriptor that is readable when Tick is to be called; -1 where
// there is none, and connects are answered with EAGAIN.
func (s *sockets) OpenClock() int {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		fd = -1
	}
	s.clock.fd = fd
	return fd
}

// within has the timer go off after d at the latest.
func (c *clock) within(d time.Duration) {
	due := time.Now().Add(d)
	if !c.due.IsZero() && c.due.Before(due) {
		return
	}
	c.due = due
	_ = unix.TimerfdSettime(c.fd, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}, nil)
}

// Tick looks at what others have done meanwhile: the helpers, the programs that wait
// for a connect or bind a socket.
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
