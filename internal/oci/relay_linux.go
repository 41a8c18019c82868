package oci

import (
	"encoding/binary"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// An engine waits for the runtime's process, which is not the one that goes on as the
// container's supervisor: that is a child of it, and makes the container.

// aboveAll is a number beyond the descriptors that engines hand on.
const aboveAll = 200

// handOver has a process that stays make the container, and ends as that says.
func (c *Call) handOver(args []string) (status int, err error) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return 0, err
	}
	theirs, err := unix.FcntlInt(uintptr(p[1]), unix.F_DUPFD, aboveAll)
	unix.Close(p[1])
	if err != nil {
		return 0, err
	}
	words := append([]string{args[0], "--" + reportFlag, strconv.Itoa(theirs)}, args[1:]...)
	child, err := begin("/proc/self/exe", words, c.Environ, nil)
	unix.Close(theirs)
	if err != nil {
		return 0, err
	}
	b := make([]byte, 4)
	if n, err := syscall.Read(p[0], b); err == nil && n == len(b) {
		return int(binary.LittleEndian.Uint32(b)), nil
	}
	return child.wait(), nil // which said why
}

// stay tells who waits that the container is there, and leaves what was its: its streams,
// its terminal, its directory.
func (c *Call) stay() {
	_, _ = unix.Write(c.Own.Report, make([]byte, 4))
	unix.Close(c.Own.Report)
	_, _ = unix.Setsid()
	_ = unix.Chdir("/")
	if null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0); err == nil {
		for fd := range 3 {
			_ = unix.Dup3(null, fd, 0)
		}
	}
	for _, fd := range c.inherited {
		unix.Close(fd)
	}
}

// inherits are the descriptors beyond the first three that the caller handed on.
func inherits() (fds []int) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		fd, _ := strconv.Atoi(e.Name())
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && fd > 2 && flags&unix.FD_CLOEXEC == 0 {
			fds = append(fds, fd)
		}
	}
	return fds
}
