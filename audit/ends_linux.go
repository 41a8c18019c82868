package audit

import (
	"sbx/internal/sys"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// maxEnds is how many processes are waited for at a time.
const maxEnds = 64

// endsEvery is how late the end of a process may be noticed. To wake the supervisor for each
// process would cost a program that does nothing an eighth of its time, so only processes that
// live longer than this wake it.
const endsEvery = 20 * time.Millisecond

// ends notices when processes end.
type ends struct {
	fd      int // an epoll of the timer and of the pidfds of processes that live longer; -1 for none
	timer   int
	ticks   bool
	waiting []awaited
}

// awaited is a process whose end is waited for.
type awaited struct {
	pidfd, pid int
	place      int // the index in the list of its first program
	since      time.Time
	wakes      bool // its pidfd is in epoll
}

// open makes the timer and the epoll, unless they exist: a tracer sees programs start before
// anything polls.
func (e *ends) open() {
	if e.fd >= 0 {
		return
	}
	timer, err := sys.Timer(0, 0)
	if err != nil {
		return
	}
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err == nil {
		err = unix.EpollCtl(fd, unix.EPOLL_CTL_ADD, timer, &unix.EpollEvent{Events: unix.EPOLLIN})
	}
	if err != nil {
		unix.Close(timer)
		return
	}
	e.fd, e.timer = fd, timer
}

// await takes over a pidfd, unless there are too many or its process is awaited.
func (e *ends) await(pidfd, pid, place int) bool {
	e.open()
	if e.fd < 0 || len(e.waiting) == maxEnds || e.awaits(pid) {
		return false
	}
	e.waiting = append(e.waiting, awaited{pidfd: pidfd, pid: pid, place: place, since: time.Now()})
	e.tick()
	return true
}

// tick starts the timer unless it runs already.
func (e *ends) tick() {
	if !e.ticks {
		sys.Arm(e.timer, endsEvery, 0)
		e.ticks = true
	}
}

// awaits reports whether the end of a process is awaited.
func (e *ends) awaits(pid int) bool {
	return slices.ContainsFunc(e.waiting, func(l awaited) bool { return l.pid == pid })
}

// note calls seen with the index of the first program of each process that has ended.
func (e *ends) note(seen func(place int, at time.Time)) {
	var pf [maxEnds]unix.PollFd
	for i, l := range e.waiting {
		pf[i] = unix.PollFd{Fd: int32(l.pidfd), Events: unix.POLLIN}
	}
	if n, _ := unix.Poll(pf[:len(e.waiting)], 0); n <= 0 {
		return
	}
	left, now := e.waiting[:0], time.Now()
	for i, l := range e.waiting {
		if pf[i].Revents == 0 {
			left = append(left, l)
			continue
		}
		seen(l.place, now)
		e.drop(&l)
	}
	e.waiting = left
}

func (e *ends) drop(l *awaited) {
	if l.wakes { // a copy of the pidfd that is open elsewhere would keep waking
		_ = unix.EpollCtl(e.fd, unix.EPOLL_CTL_DEL, l.pidfd, nil)
	}
	unix.Close(l.pidfd)
}

// event handles that fd is readable.
func (e *ends) event(seen func(place int, at time.Time)) {
	if sys.Hush(e.timer) {
		e.ticks = false
	}
	e.note(seen)
	for i := range e.waiting {
		switch l := &e.waiting[i]; {
		case l.wakes:
		case time.Since(l.since) < endsEvery:
			e.tick()
		default:
			l.wakes = unix.EpollCtl(e.fd, unix.EPOLL_CTL_ADD, l.pidfd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(l.pidfd)}) == nil
		}
	}
}

// close notes the processes that have ended and closes the descriptors.
func (e *ends) close(seen func(place int, at time.Time)) {
	if e.fd < 0 {
		return
	}
	e.note(seen)
	for i := range e.waiting {
		e.drop(&e.waiting[i])
	}
	unix.Close(e.timer)
	unix.Close(e.fd)
	e.fd, e.waiting = -1, nil
}
