package launch

import (
	"slices"

	"golang.org/x/sys/unix"
)

// Waiter is a descriptor and what is to be done whenever it is readable. One
// that the kernel reports as gone is waited for no more.
type Waiter struct {
	FD    int
	Event func()
}

func ready(polled []unix.PollFd) bool {
	return slices.ContainsFunc(polled, func(p unix.PollFd) bool { return p.Revents != 0 })
}

// polled adds waiters to what is polled.
func polled(pf []unix.PollFd, list []Waiter) []unix.PollFd {
	for _, w := range list {
		pf = append(pf, unix.PollFd{Fd: int32(w.FD), Events: unix.POLLIN})
	}
	return pf
}

// serve calls the waiters whose descriptors are ready, of those that were polled.
func serve(list []Waiter, polled []unix.PollFd) {
	for i, p := range polled {
		switch {
		case p.Revents&unix.POLLIN != 0:
			list[i].Event()
		case p.Revents != 0:
			list[i].FD = -1
		}
	}
}
