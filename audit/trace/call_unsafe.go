package trace

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"sbx/seccomp"
)

// request makes a ptrace(2) system call.
func request(what, tid int, data uintptr) unix.Errno {
	_, _, e := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(what), uintptr(tid), 0, data, 0, 0)
	return e
}

// requestAt is request with a pointer into this process. It converts the pointer only in
// the call itself: a Go stack that grows in between would move.
func requestAt(what, tid int, address uintptr, data unsafe.Pointer) unix.Errno {
	_, _, e := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(what), uintptr(tid), address, uintptr(data), 0, 0)
	return e
}

// seize makes tid a tracee without stopping it.
func seize(tid, options int) unix.Errno {
	return request(unix.PTRACE_SEIZE, tid, uintptr(options))
}

// proceed continues a stopped process and delivers a signal; 0 for none.
func proceed(tid int, signal unix.Signal) { request(unix.PTRACE_CONT, tid, uintptr(signal)) }

// toExit continues a process until its current call returns.
func toExit(tid int) { request(unix.PTRACE_SYSCALL, tid, 0) }

// listen leaves a process in its group-stop until SIGCONT.
func listen(tid int) unix.Errno { return request(unix.PTRACE_LISTEN, tid, 0) }

// eventMessage returns the stop's message (PTRACE_GETEVENTMSG).
func eventMessage(tid int) (int, unix.Errno) {
	var word uintptr
	e := requestAt(unix.PTRACE_GETEVENTMSG, tid, 0, unsafe.Pointer(&word))
	return int(word), e
}

// syscallInfo is struct ptrace_syscall_info of linux/ptrace.h for a stop by a filter.
type syscallInfo struct {
	op   uint8
	_    [3]uint8
	arch uint32
	_    [2]uint64 // instruction and stack pointer
	nr   uint64
	args [6]uint64
	_    uint64
}

// syscallInfoSeccomp is PTRACE_SYSCALL_INFO_SECCOMP: the stop is by a filter.
const syscallInfoSeccomp = 3

// callOf returns the call at which a process was stopped by a filter.
func callOf(tid int) (seccomp.Call, bool) {
	var info syscallInfo
	e := requestAt(unix.PTRACE_GET_SYSCALL_INFO, tid, unsafe.Sizeof(info), unsafe.Pointer(&info))
	return seccomp.Call{Arch: info.arch, Nr: uint32(info.nr), Args: info.args}, e == 0 && info.op == syscallInfoSeccomp
}
