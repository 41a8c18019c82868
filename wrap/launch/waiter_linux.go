package launch

import (
	"slices"

	"golang.org/x/sys/unix"
)

// Waiter is a descriptor and a function to call whenever it is readable. If the kernel
// reports that the descriptor is gone, it is not waited for any more.
type Waiter struct {
	FD    int
	Event func()
}

func ready(polled []unix.PollFd) bool {
	return slices.ContainsFunc(polled, func(p unix.PollFd) bool { return p.Revents != 0 })
}

// polled appends waiters to a list for poll(2).
func polled(pf []unix.PollFd, list []Waiter) []unix.PollFd {
	for _, w := range list {
		pf = append(pf, unix.PollFd{Fd: int32(w.FD), Events: unix.POLLIN})
	}
	return pf
}

// serve calls the waiters whose descriptors are ready.
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
