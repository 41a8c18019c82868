package front

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// signals are those that the runtime proper gets from the process which waits for it. Not among them are
// the signals that stop a process, those of its own faults, and those of its children, of the Go runtime
// and, the numbers 32 to 34, of libc.
const signals = ^uint64(1<<(unix.SIGKILL-1) | 1<<(unix.SIGSTOP-1) | 1<<(unix.SIGTSTP-1) | 1<<(unix.SIGTTIN-1) | 1<<(unix.SIGTTOU-1) |
	1<<(unix.SIGSEGV-1) | 1<<(unix.SIGBUS-1) | 1<<(unix.SIGFPE-1) | 1<<(unix.SIGILL-1) | 1<<(unix.SIGTRAP-1) | 1<<(unix.SIGSYS-1) | 1<<(unix.SIGABRT-1) |
	1<<(unix.SIGCHLD-1) | 1<<(unix.SIGPIPE-1) | 1<<(unix.SIGURG-1) | 1<<(unix.SIGPROF-1) | 1<<(unix.SIGVTALRM-1) | 1<<31 | 1<<32 | 1<<33)

// The addresses of a signal handler that does nothing, and of what returns from it; 0 where the kernel
// does that.
var handler, restorer uintptr

// Swallow has this process ignore the signals that the Go runtime lets nobody block, but no program that
// it executes: package os/signal takes longer, and ignored signals stay so.
func Swallow() {
	const onStack, restarts, restores = 0x08000000, 0x10000000, 0x04000000 // SA_ONSTACK, SA_RESTART, SA_RESTORER
	action := [4]uintptr{handler, onStack | restarts, restorer}
	if restorer != 0 {
		action[1] |= restores
	}
	for _, s := range [...]syscall.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM} {
		ask(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&action)), 0, 8)
	}
}
