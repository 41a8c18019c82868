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
func (l *Listener) OpenClock() int {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		fd = -1
	}
	l.clock.fd = fd
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
func (l *Listener) Tick() {
	var buf [8]byte
	_, _ = unix.Read(l.clock.fd, buf[:])
	l.clock.due = time.Time{}
	l.landed()
	if l.flights.count() > 0 {
		l.cancel()
		l.clock.within(patience)
	}
	if wait := l.made.ask(time.Now()); wait > 0 {
		l.clock.within(wait)
	}
	for _, n := range l.narrowed {
		if wait := n.made.ask(time.Now()); wait > 0 {
			l.clock.within(wait)
		}
	}
	if l.discards.work() {
		l.clock.within(patience)
	}
}
