package launch

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// Actions of a filter, <linux/seccomp.h>.
const (
	seccompRetErrno     = 0x00050000
	seccompRetUserNotif = 0x7fc00000
)

// seccompAnswer asks the kernel whether filters may use an action,
// SECCOMP_GET_ACTION_AVAIL of seccomp(2).
func seccompAnswer(action uint32, missing string) wrap.Answer {
	const getActionAvail = 2
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, getActionAvail, 0, uintptr(unsafe.Pointer(&action)))
	switch errno {
	case 0:
		return wrap.Answer{State: wrap.Yes}
	case unix.EPERM, unix.EACCES:
		return wrap.Answer{State: wrap.No, Why: "seccomp is refused here, as by a container's filter"}
	}
	return wrap.Answer{State: wrap.No, Why: missing}
}
