package trace

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"sbx/seccomp"
)

// request is ptrace(2) as the kernel has it.
func request(what, tid int, data uintptr) unix.Errno {
	_, _, e := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(what), uintptr(tid), 0, data, 0, 0)
	return e
}

// requestAt is ptrace(2) with an address in this process, which must become a
// word in the call itself: a stack that grows before it moves.
func requestAt(what, tid int, address uintptr, data unsafe.Pointer) unix.Errno {
	_, _, e := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(what), uintptr(tid), address, uintptr(data), 0, 0)
	return e
}

// seize makes tid a tracee without stopping it.
func seize(tid, options int) unix.Errno {
	return request(unix.PTRACE_SEIZE, tid, uintptr(options))
}

// proceed lets a stopped process go on, with a signal if it stopped for one.
func proceed(tid int, signal unix.Signal) { request(unix.PTRACE_CONT, tid, uintptr(signal)) }

// toExit lets a process go on until the call under way returns.
func toExit(tid int) { request(unix.PTRACE_SYSCALL, tid, 0) }

// listen leaves a process in its group-stop, from which SIGCONT takes it.
func listen(tid int) unix.Errno { return request(unix.PTRACE_LISTEN, tid, 0) }

// eventMessage is what PTRACE_GETEVENTMSG says of the stop.
func eventMessage(tid int) (int, unix.Errno) {
	var word uintptr
	e := requestAt(unix.PTRACE_GETEVENTMSG, tid, 0, unsafe.Pointer(&word))
	return int(word), e
}

// syscallInfo is struct ptrace_syscall_info of <linux/ptrace.h> for an entry or
// a stop by a filter.
type syscallInfo struct {
	op   uint8
	_    [3]uint8
	arch uint32
	_    [2]uint64 // instruction and stack pointer
	nr   uint64
	args [6]uint64
	_    uint64
}

// The stops of PTRACE_GET_SYSCALL_INFO.
const syscallInfoSeccomp = 3

// callOf is the call that stopped by a filter.
func callOf(tid int) (seccomp.Call, bool) {
	var info syscallInfo
	e := requestAt(unix.PTRACE_GET_SYSCALL_INFO, tid, unsafe.Sizeof(info), unsafe.Pointer(&info))
	return seccomp.Call{Arch: info.arch, Nr: uint32(info.nr), Args: info.args}, e == 0 && info.op == syscallInfoSeccomp
}
