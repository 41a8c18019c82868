package oci

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

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
	s.turn.Lock() // and never unlocked: nothing is answered any more
	if s.late.Load() {
		s.run.TimedOut()
	}
	_ = s.run.Finish(status, unknown)
	unix.Close(s.alive)
}

const reapedWithin = time.Second

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

func zombie(pid, pidfd int) (unix.WaitStatus, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil || unix.PidfdSendSignal(pidfd, 0, nil, 0) != nil {
		return 0, false
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 50 || fields[0] != "Z" {
		return 0, false
	}
	n, err := strconv.Atoi(fields[49])
	return unix.WaitStatus(n), err == nil
}

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

func gone(dir string) bool {
	fd, err := unix.Open(dir+"/"+lifeFile, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	for range 2 * reapedWithin / (10 * time.Millisecond) {
		if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return true
}
