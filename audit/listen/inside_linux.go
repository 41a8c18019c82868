package listen

import (
	"strconv"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// innerProcess is the process of an sbx that runs in this sandbox (a nested sbx).
type innerProcess struct {
	pid int // in the supervisor's PID namespace; 0 once the process is gone
	own int // its pidfd
}

// openInside opens the process of a nested sbx by its PID.
func openInside(pid int) (innerProcess, unix.Errno) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return innerProcess{}, unix.EAGAIN
	}
	return innerProcess{pid, fd}, 0
}

// flagExiting is the flag of a process that is ending: PF_EXITING of linux/sched.h.
const flagExiting = 4

// gone reports whether the process has ended, and then forgets its PID, which may be
// reused. A process that is exiting counts as ended: its children get another parent a
// moment before its pidfd becomes readable.
func (s *innerProcess) gone() bool {
	if s.pid == 0 {
		return true
	}
	flags, _ := strconv.Atoi(read.Stat(strconv.Itoa(s.pid), read.StatFlags))
	ending := flags&flagExiting != 0 // read before the poll: if the process still runs at the poll, the flags were its own
	pf := []unix.PollFd{{Fd: int32(s.own), Events: unix.POLLIN}}
	if n, _ := unix.Poll(pf, 0); n == 0 && !ending {
		return false
	}
	s.forget()
	return true
}

func (s *innerProcess) forget() {
	if s.pid > 0 {
		unix.Close(s.own)
		s.pid, s.own = 0, -1
	}
}

// maxAncestors bounds the walk up a process tree, maxClimbs how often climb starts again
// because a process on the way has ended.
const (
	maxAncestors = 2000
	maxClimbs    = 3
)

// climb returns the ancestors of tid up to own, without own. It checks each parent again
// once it knows the next one: a parent that ended may have had its PID reused.
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
