package trace

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// registers are a process's general registers.
type registers unix.PtraceRegs

// ntPrstatus is the note of the general registers (<linux/elf.h>).
const ntPrstatus = 1

// get and set read and write a stopped process's registers. What a 32-bit
// process has comes in the native layout on amd64, and short on arm64, which is
// an error here.
func (r *registers) get(tid int) unix.Errno {
	v := unix.Iovec{Base: (*byte)(unsafe.Pointer(r))}
	v.SetLen(int(unsafe.Sizeof(*r)))
	e := requestAt(unix.PTRACE_GETREGSET, tid, ntPrstatus, unsafe.Pointer(&v))
	if e == 0 && uintptr(v.Len) != unsafe.Sizeof(*r) {
		return unix.EIO
	}
	return e
}

func (r *registers) set(tid int) unix.Errno {
	return setNote(tid, ntPrstatus, unsafe.Pointer(r), unsafe.Sizeof(*r))
}

func setNote(tid int, note uintptr, at unsafe.Pointer, size uintptr) unix.Errno {
	v := unix.Iovec{Base: (*byte)(at)}
	v.SetLen(int(size))
	return requestAt(unix.PTRACE_SETREGSET, tid, note, unsafe.Pointer(&v))
}
