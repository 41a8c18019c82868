package listen

import (
	"strconv"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// inside is an sbx inside this sandbox.
type inside struct {
	pid int // outside; 0 where it is gone
	own int // pidfd of it
}

// openInside is the sbx whose process a number is.
func openInside(pid int) (inside, unix.Errno) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return inside{}, unix.EAGAIN
	}
	return inside{pid, fd}, 0
}

// flagExiting is the flag of a process that is ending: PF_EXITING of linux/sched.h.
const flagExiting = 4

// gone tells whether it has ended, and forgets its number, which may be another's soon.
// What it started has another parent a moment before the pidfd tells of the end, so one
// that is ending has ended.
func (s *inside) gone() bool {
	if s.pid == 0 {
		return true
	}
	flags, _ := strconv.Atoi(read.Stat(strconv.Itoa(s.pid), read.StatFlags))
	ending := flags&flagExiting != 0 // asked first: the number is its own if it has not ended after that
	pf := []unix.PollFd{{Fd: int32(s.own), Events: unix.POLLIN}}
	if n, _ := unix.Poll(pf, 0); n == 0 && !ending {
		return false
	}
	s.forget()
	return true
}

func (s *inside) forget() {
	if s.pid > 0 {
		unix.Close(s.own)
		s.pid, s.own = 0, -1
	}
}

// maxAncestors bounds the walk up a process tree, maxClimbs how often it is begun
// anew where a process on the way has ended meanwhile.
const (
	maxAncestors = 2000
	maxClimbs    = 3
)

// climb is ancestors of a thread as far as own. Each step is looked at again once the next
// one is known: a parent that has ended meanwhile may have left its number to another.
func climb(tid, own int, parentOf func(pid int) int) (pids []int, ok bool) {
	for range maxClimbs {
		pids = pids[:0]
		at, up := tid, parentOf(tid)
		for up > 0 && up != own && len(pids) < maxAncestors {
			pids = append(pids, up)
			above := parentOf(up)
			if parentOf(at) != up {
				break
			}
			at, up = up, above
		}
		if up == own {
			return pids, true
		}
	}
	return nil, false
}
