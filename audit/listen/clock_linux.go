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

// within sets the timer to expire after d, unless it expires earlier already.
func (c *clock) within(d time.Duration) {
	due := time.Now().Add(d)
	if !c.due.IsZero() && c.due.Before(due) {
		return
	}
	c.due = due
	_ = unix.TimerfdSettime(c.fd, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}, nil)
}
