package seccomp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Pointer is the address of the program's header for a raw system call. Who
// keeps it as a uintptr keeps the header alive besides.
func Pointer(p *unix.SockFprog) unsafe.Pointer { return unsafe.Pointer(p) }

// Probe asks the kernel what it can do with filters. It loads none, needs no
// privilege and takes a few microseconds: it hands over no filter at all, and
// a kernel that gets as far as to read it (seccomp(2), EFAULT) knows the flags
// that came with it.
func Probe() Support {
	return Support{
		Filter:      answer(load(0), unix.EFAULT),
		KillProcess: answer(available(unix.SECCOMP_RET_KILL_PROCESS), 0),
		Log:         answer(available(unix.SECCOMP_RET_LOG), 0),
		Notify:      answer(available(unix.SECCOMP_RET_USER_NOTIF), 0),
		Killable:    answer(load(unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV), unix.EFAULT),
	}
}

// load asks to load the filter at address 0, which cannot be.
func load(flags uintptr) unix.Errno {
	_, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, 0)
	return e
}

// available asks whether filters may return that action.
func available(action uint32) unix.Errno {
	_, _, e := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return e
}
