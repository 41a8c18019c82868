package oci

import (
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"

	"sbx/internal/oci/front"
	"sbx/spec"
)

// An engine waits for the runtime's process, which is not the one that goes on as the
// container's supervisor: that is a child of it, and makes the container (package front).

var errUnparted = &spec.Problem{Do: "have a supervisor stay with the container", Why: "sbx-oci was built without its entry point",
	Help: "build it with make, or with go build -ldflags '-E sbx_oci_entry'"}

// follow has this process end with the one that the engine waits for, which it may kill: of
// a container that is deleted after that nothing is to come into being. It tells whether
// that one is still there.
func (c *Call) follow() bool {
	runtime.LockOSThread() // whose attribute it is
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
	pf := []unix.PollFd{{Fd: int32(front.Report())}}
	_, _ = unix.Poll(pf, 0)
	return pf[0].Revents == 0
}

// stay tells who waits that the container is there, and leaves what was its: its streams,
// its terminal, its directory.
func (c *Call) stay() {
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0)
	_, _ = unix.Write(front.Report(), make([]byte, 4))
	unix.Close(front.Report())
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
