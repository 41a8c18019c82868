package launch

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// Listener tells whether a filter may hand calls to a listener. No launch needs
// it, so Probe does not ask.
func Listener() wrap.Answer {
	return seccompAnswer(unix.SECCOMP_RET_USER_NOTIF, "the kernel has no seccomp notifications (Linux 5.0)")
}

// seccompAnswer asks the kernel whether filters may use an action,
// SECCOMP_GET_ACTION_AVAIL of seccomp(2).
func seccompAnswer(action uint32, missing string) wrap.Answer {
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	switch errno {
	case 0:
		return wrap.Answer{State: wrap.Yes}
	case unix.EPERM, unix.EACCES:
		return wrap.Answer{State: wrap.No, Why: "seccomp is refused here, as by a container's filter"}
	}
	return wrap.Answer{State: wrap.No, Why: missing}
}
