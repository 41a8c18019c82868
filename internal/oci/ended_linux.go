package oci

import (
	"sbx/internal/read"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// over waits for the end of the container's first process, then finishes the record.
func (s *supervisor) over() {
	<-s.seen
	fd := int(s.first.Load())
	wait(fd, unix.POLLIN, -1)
	status, unknown := exitOf(int(s.pid.Load()), fd)
	if !s.begun.Load() {
		unknown = neverStarted
	}
	s.finish(status, unknown)
}

const neverStarted = "its command was never started"

func (s *supervisor) finish(status unix.WaitStatus, unknown string) {
	s.turn.Lock() // never unlocked: no notification is answered after this point
	if s.late.Load() {
		s.run.TimedOut()
	}
	_ = s.run.Finish(status, unknown)
	unix.Close(s.alive)
}

// reapedWithin is how long exitOf waits for the container's parent to reap its first process.
const reapedWithin = time.Second

// exitOf returns how a process ended that is not a child of this process: from /proc while the
// process is a zombie, after that from its pidfd (PIDFD_INFO_EXIT, Linux 6.15).
func exitOf(pid, pidfd int) (status unix.WaitStatus, unknown string) {
	if status, ok := zombie(pid, pidfd); ok {
		return status, ""
	}
	wait(pidfd, 0, reapedWithin)
	info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_EXIT}
	if err := unix.IoctlPidfdInfo(pidfd, &info); err != nil || info.Mask&unix.PIDFD_INFO_EXIT == 0 {
		return 0, "the container's engine alone knows it before Linux 6.15"
	}
	return unix.WaitStatus(info.Exit_code), ""
}

// zombie returns the wait status of a process (proc_pid_stat(5)), if pid still belongs to the
// pidfd's process and that is a zombie.
func zombie(pid, pidfd int) (unix.WaitStatus, bool) {
	fields := read.StatFields(strconv.Itoa(pid))
	if len(fields) <= read.StatExit || fields[read.StatState] != "Z" || unix.PidfdSendSignal(pidfd, 0, nil, 0) != nil {
		return 0, false
	}
	n, err := strconv.Atoi(fields[read.StatExit])
	return unix.WaitStatus(n), err == nil
}

// wait waits until fd has an event or hangs up, at most d; forever if d < 0.
func wait(fd int, event int16, d time.Duration) {
	until := time.Now().Add(d)
	for {
		ms := -1
		if d >= 0 {
			ms = int(max(time.Until(until), 0) / time.Millisecond)
		}
		pf := []unix.PollFd{{Fd: int32(fd), Events: event}}
		if _, err := unix.Poll(pf, ms); err != unix.EINTR {
			return
		}
	}
}

// gone waits until the supervisor of an ended container has written its record, at most ten seconds. It
// reports whether there was one, and whether it still lives.
func gone(dir string) (was, lives bool) {
	fd, err := unix.Open(dir+"/"+lifeFile, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, false
	}
	defer unix.Close(fd)
	for range 10 * time.Second / (10 * time.Millisecond) {
		if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
			return true, false
		}
		time.Sleep(10 * time.Millisecond)
	}
	return true, true
}
