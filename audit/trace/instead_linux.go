package trace

import (
	"golang.org/x/sys/unix"

	"sbx/seccomp"
)

// refuse answers an errno to the call that stopped, which is not made, and lets
// the process go on. One that cannot be answered is killed: it must not go on
// with its call.
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

// access puts faccessat(2) in the place of the exec that stopped, so that the
// process asks the kernel whether the file is there and may be executed: with
// its own root, directory, descriptors and rights, and without holding up the
// tracer. The registers to put back are returned.
func access(tid int, c seccomp.Call, at bool) (*registers, unix.Errno) {
	saved := new(registers)
	if e := saved.get(tid); e != 0 {
		return nil, e
	}
	folder, path := int64(unix.AT_FDCWD), c.Args[0]
	if at {
		folder, path = int64(int32(c.Args[0])), c.Args[1]
	}
	r := *saved
	r.arguments(uint64(folder), path, unix.X_OK)
	return saved, r.put(tid, unix.SYS_FACCESSAT, -int64(unix.ENOSYS))
}

// resultOf is what the call that a process stops at the exit of returned.
func resultOf(tid int) (int64, unix.Errno) {
	var r registers
	e := r.get(tid)
	return r.result(), e
}

// putBack gives a process the registers that it made its call with, and the
// answer.
func putBack(tid int, saved *registers, answer int64) {
	saved.answer(answer)
	if e := saved.set(tid); e != 0 && e != unix.ESRCH {
		_ = unix.Kill(tid, unix.SIGKILL)
	}
}
