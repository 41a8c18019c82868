package front

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

var (
	report uintptr // see Report

	pair      [2]int32
	polled    [2]unix.PollFd
	came      unix.SignalfdSiginfo
	told      [4]byte
	ended     unix.WaitStatus
	byDefault [4]uintptr // a struct sigaction
)

// part forks. The child continues to main; the parent waits until the child reports that it
// stays, or ends, and forwards signals to it.
//
//go:nosplit
func part() {
	set := signals
	if failed(ask(unix.SYS_PIPE2, uintptr(unsafe.Pointer(&pair)), unix.O_CLOEXEC, 0, 0)) {
		return
	}
	theirs := ask(unix.SYS_FCNTL, uintptr(pair[1]), unix.F_DUPFD_CLOEXEC, AboveAll, 0)
	ask(unix.SYS_CLOSE, uintptr(pair[1]), 0, 0, 0)
	fd := ask(unix.SYS_SIGNALFD4, ^uintptr(0), uintptr(unsafe.Pointer(&set)), 8, unix.O_CLOEXEC)
	ask(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), uintptr(unsafe.Pointer(&byDefault)), 0, 8) // if it were ignored, wait4 would not return the child's status
	child := ^uintptr(0)
	if !failed(theirs) && !failed(fd) {
		child = ask(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0)
	}
	if child != 0 && !failed(child) {
		ask(unix.SYS_CLOSE, theirs, 0, 0, 0)
		await(child, fd)
	}
	ask(unix.SYS_CLOSE, fd, 0, 0, 0)
	ask(unix.SYS_CLOSE, uintptr(pair[0]), 0, 0, 0)
	if child == 0 {
		report = theirs
	}
}

// await waits for the child in the parent and then exits; it never returns.
//
//go:nosplit
func await(child, signals uintptr) {
	polled[0] = unix.PollFd{Fd: pair[0], Events: unix.POLLIN}
	polled[1] = unix.PollFd{Fd: int32(signals), Events: unix.POLLIN}
	for {
		ask(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&polled)), 2, 0, 0)
		if polled[1].Revents != 0 && !failed(ask(unix.SYS_READ, signals, uintptr(unsafe.Pointer(&came)), unsafe.Sizeof(came), 0)) {
			if s := syscall.Signal(came.Signo); Passes(s, came.Code) {
				ask(unix.SYS_KILL, child, uintptr(s), 0, 0)
			}
		}
		if polled[0].Revents == 0 {
			continue
		}
		if ask(unix.SYS_READ, uintptr(pair[0]), uintptr(unsafe.Pointer(&told)), 4, 0) == 4 {
			ask(unix.SYS_EXIT_GROUP, 0, 0, 0, 0)
		}
		ask(unix.SYS_WAIT4, child, uintptr(unsafe.Pointer(&ended)), 0, 0) // all signals that have a handler are blocked
		status := uintptr(ended>>8) & 255
		if ended&127 != 0 {
			status = 128 + uintptr(ended&127)
		}
		ask(unix.SYS_EXIT_GROUP, status, 0, 0, 0)
	}
}
