package host

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

// own is a byte that stays where it is.
var ownByte byte

// readsMemory tells whether the supervisor can read what those point to who wait for
// it: by the call, or by /proc where a container's filter shuts that. Its own memory
// is any process's but for what Yama says.
func readsMemory() wrap.Answer {
	var b byte
	local := unix.Iovec{Base: &b, Len: 1}
	remote := unix.RemoteIovec{Base: uintptr(unsafe.Pointer(&ownByte)), Len: 1}
	_, err := unix.ProcessVMReadv(unix.Getpid(), []unix.Iovec{local}, []unix.RemoteIovec{remote}, 0)
	if err != nil {
		fd, e := unix.Open("/proc/self/mem", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err = e; e == nil {
			unix.Close(fd)
		}
	}
	return memoryAnswer(err, sysctl("/proc/sys/kernel/yama/ptrace_scope"))
}

// memoryAnswer is readsMemory by what came of reading, and by Yama's setting.
func memoryAnswer(err error, scope string) wrap.Answer {
	switch {
	case err != nil:
		return wrap.Answer{State: wrap.No, Why: "the memory of other processes cannot be read here: " + err.Error()}
	case scope == "3":
		return wrap.Answer{State: wrap.No, Why: "the memory of other processes cannot be read here: kernel.yama.ptrace_scope is 3"}
	}
	return wrap.Answer{}
}

// seccompAnswer asks the kernel whether filters may use an action,
// SECCOMP_GET_ACTION_AVAIL of seccomp(2).
func seccompAnswer(action uint32, missing string) wrap.Answer {
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	switch errno {
	case 0:
		return wrap.Answer{State: wrap.Yes}
	case unix.EPERM, unix.EACCES:
		return wrap.Answer{State: wrap.No, Why: "seccomp is denied here, as by a container's filter"}
	}
	return wrap.Answer{State: wrap.No, Why: missing}
}
