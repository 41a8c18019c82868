package trace

import (
	"golang.org/x/sys/unix"

	"sbx/seccomp"
)

// refuse skips the call at which a process stopped, makes it return an errno, and
// continues the process. A process whose registers cannot be set is killed, since it
// would make the call.
func refuse(tid int, answer unix.Errno) {
	var r registers
	e := r.get(tid)
	if e == 0 {
		e = r.put(tid, -1, -int64(answer))
	}
	if e != 0 && e != unix.ESRCH {
		_ = unix.Kill(tid, unix.SIGKILL)
	}
	if e == 0 {
		proceed(tid, 0)
	}
}

// access replaces the exec at which a process stopped by faccessat(2), so that the process
// itself asks the kernel whether the file exists and may be executed: with its own root,
// directory, descriptors and permissions, and without blocking the tracer. access returns
// the registers that putBack restores.
func access(tid int, c seccomp.Call, at bool) (*registers, unix.Errno) {
	saved := new(registers)
	if e := saved.get(tid); e != 0 {
		return nil, e
	}
	dir, path := int64(unix.AT_FDCWD), c.Args[0]
	if at {
		dir, path = int64(int32(c.Args[0])), c.Args[1]
	}
	r := *saved
	r.arguments(uint64(dir), path, unix.X_OK)
	return saved, r.put(tid, unix.SYS_FACCESSAT, -int64(unix.ENOSYS))
}

// resultOf returns the return value of the call at whose exit a process stopped.
func resultOf(tid int) (int64, unix.Errno) {
	var r registers
	e := r.get(tid)
	return r.result(), e
}

// putBack restores the registers that access returned and sets the call's return value.
func putBack(tid int, saved *registers, answer int64) {
	saved.answer(answer)
	if e := saved.set(tid); e != 0 && e != unix.ESRCH {
		_ = unix.Kill(tid, unix.SIGKILL)
	}
}
