package audit

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// maxEnds is how many processes at a time are waited for.
const maxEnds = 64

// endsEvery is how late the end of a process may be seen. To be woken by each would cost
// a program that does nothing an eighth of its time, so that only those which live longer
// wake anybody.
const endsEvery = 20 * time.Millisecond

// ends sees processes end.
type ends struct {
	fd      int // epoll: the timer, and pidfds of processes that live longer; -1 for none
	timer   int
	ticks   bool
	waiting []awaited
}

// awaited is a process whose end is waited for.
type awaited struct {
	pidfd, pid int
	place      int // of its first program in the list
	since      time.Time
	wakes      bool // its pidfd is in epoll
}

// open makes the timer and the epoll, where they are not there yet: a tracer sees programs
// start before anybody polls.
func (e *ends) open() {
	if e.fd >= 0 {
		return
	}
	timer, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
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

// tick has the timer go off, if it does not anyway.
func (e *ends) tick() {
	if !e.ticks {
		e.ticks = unix.TimerfdSettime(e.timer, 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(int64(endsEvery))}, nil) == nil
	}
}

// awaits reports whether a process is one of them.
func (e *ends) awaits(pid int) bool {
	return slices.ContainsFunc(e.waiting, func(l awaited) bool { return l.pid == pid })
}

// note tells seen the places of the first programs of processes that have ended.
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
	if l.wakes { // else a copy that is open elsewhere would go on to wake
		_ = unix.EpollCtl(e.fd, unix.EPOLL_CTL_DEL, l.pidfd, nil)
	}
	unix.Close(l.pidfd)
}

// event is what to do when fd is readable.
func (e *ends) event(seen func(place int, at time.Time)) {
	var buf [8]byte
	if n, _ := unix.Read(e.timer, buf[:]); n > 0 {
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

// close looks for the last time.
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
