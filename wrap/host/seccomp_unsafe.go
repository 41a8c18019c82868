package host

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// Listener reports whether a syscall filter may notify a listener. Probe leaves this out
// since no launch needs it.
func Listener() wrap.Answer {
	return seccompAnswer(unix.SECCOMP_RET_USER_NOTIF, "the kernel has no seccomp notifications (Linux 5.0)")
}

// ownByte is a byte whose address does not change.
var ownByte byte

// readsMemory reports whether the supervisor can read the memory of processes that wait for
// its answer, by process_vm_readv(2) or, if a container's filter denies that call, through
// /proc.
// It tries this with its own memory, which Yama does not restrict; memoryAnswer adds Yama's
// setting.
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

// memoryAnswer turns the error of the attempt and Yama's ptrace_scope into an answer.
func memoryAnswer(err error, scope string) wrap.Answer {
	switch {
	case err != nil:
		return no("the memory of other processes cannot be read here: " + err.Error())
	case scope == "3":
		return no("the memory of other processes cannot be read here: kernel.yama.ptrace_scope is 3")
	}
	return wrap.Answer{}
}

// seccompAnswer reports whether the kernel lets filters use an action
// (SECCOMP_GET_ACTION_AVAIL of seccomp(2)).
func seccompAnswer(action uint32, missing string) wrap.Answer {
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	switch errno {
	case 0:
		return wrap.Answer{State: wrap.Yes}
	case unix.EPERM, unix.EACCES:
		return no("seccomp is denied here, as by a container's filter")
	}
	return no(missing)
}
