package oci

import (
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"

	"sbx/internal/oci/front"
	"sbx/spec"
)

// An engine waits for the process that it started as the runtime. A child of that process
// creates the container and stays as its supervisor (package front).

var errUnparted = &spec.Problem{Do: "have a supervisor stay with the container", Why: "sbx-oci was built without its entry point",
	Help: "build it with make, or with go build -ldflags '-E sbx_oci_entry'"}

// follow makes this process die with its parent, for which the engine waits and which it may kill:
// if the engine then deletes the container, this process must not create it afterwards. follow
// reports whether the parent is still alive.
func (c *Call) follow() bool {
	runtime.LockOSThread() // the death signal is an attribute of the thread
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
	pf := []unix.PollFd{{Fd: int32(front.Report())}}
	_, _ = unix.Poll(pf, 0)
	return pf[0].Revents == 0
}

// report tells the waiting parent that the container exists, so that the parent exits; false if there is
// none.
func (c *Call) report() bool {
	if front.Report() == 0 {
		return false
	}
	_, err := unix.Write(front.Report(), make([]byte, 4))
	unix.Close(front.Report())
	return err == nil
}

// stay outlives the parent: it reports, and detaches from the engine: standard streams, terminal, working
// directory, inherited descriptors.
func (c *Call) stay() {
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0)
	c.report()
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

// inherits lists the descriptors above 2 that the caller passed on.
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
