package front

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

var (
	report uintptr // see Report

	pair      [2]int32
	told      [4]byte
	ended     unix.WaitStatus
	byDefault [4]uintptr // a struct sigaction
)

// part forks. The child continues to main; the parent waits until the child reports that it
// stays, or ends. It has all signals blocked: runc ignores them, too, while it creates a container.
//
//go:nosplit
func part() {
	if failed(ask(unix.SYS_PIPE2, uintptr(unsafe.Pointer(&pair)), unix.O_CLOEXEC, 0, 0)) {
		return
	}
	theirs := ask(unix.SYS_FCNTL, uintptr(pair[1]), unix.F_DUPFD_CLOEXEC, AboveAll, 0)
	ask(unix.SYS_CLOSE, uintptr(pair[1]), 0, 0, 0)
	ask(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), uintptr(unsafe.Pointer(&byDefault)), 0, 8) // if it were ignored, wait4 would not return the child's status
	child := ^uintptr(0)
	if !failed(theirs) {
		child = ask(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0)
	}
	if child != 0 && !failed(child) {
		ask(unix.SYS_CLOSE, theirs, 0, 0, 0)
		await(child)
	}
	ask(unix.SYS_CLOSE, uintptr(pair[0]), 0, 0, 0)
	if child == 0 {
		report = theirs
	}
}

// await waits for the child in the parent and then exits; it never returns.
//
//go:nosplit
func await(child uintptr) {
	if ask(unix.SYS_READ, uintptr(pair[0]), uintptr(unsafe.Pointer(&told)), 4, 0) == 4 {
		ask(unix.SYS_EXIT_GROUP, 0, 0, 0, 0)
	}
	ask(unix.SYS_WAIT4, child, uintptr(unsafe.Pointer(&ended)), 0, 0)
	status := uintptr(ended>>8) & 255
	if ended&127 != 0 {
		status = 128 + uintptr(ended&127)
	}
	ask(unix.SYS_EXIT_GROUP, status, 0, 0, 0)
}
