package relay

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"sbx/landlock"
	"sbx/seccomp"
)

func createRuleset(r landlock.Ruleset, abi int) (int, error) {
	attr := r.Attr()
	fd, _, e := unix.Syscall(landlock.CreateRuleset, uintptr(attr.Pointer()), landlock.AttrSize(abi), 0)
	if e != 0 {
		return -1, e
	}
	return int(fd), nil
}

func addRule(ruleset int, rule landlock.Rule, file int) error {
	attr := rule.Attr(file)
	if _, _, e := unix.Syscall6(landlock.AddRule, uintptr(ruleset), landlock.PathBeneath, uintptr(attr.Pointer()), 0, 0, 0); e != 0 {
		return e
	}
	return nil
}

// dropCapabilities drops the capabilities of all threads.
func dropCapabilities() error {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	_, _, e := syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&none)), 0)
	runtime.KeepAlive(&head)
	runtime.KeepAlive(&none)
	if e != 0 {
		return e
	}
	return nil
}

// load applies a seccomp filter to all threads.
func load(program []unix.SockFilter) error {
	p := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	tid, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(seccomp.Pointer(&p)))
	runtime.KeepAlive(program)
	switch {
	case e != 0:
		return e
	case tid != 0:
		return unix.ESRCH // a thread has another filter; that cannot happen
	}
	return nil
}
