package trace

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// registers holds the general registers of a process.
type registers unix.PtraceRegs

// ntPrstatus is NT_PRSTATUS of linux/elf.h, the set of the general registers.
const ntPrstatus = 1

// get and set read and write the registers of a stopped process. The kernel returns the
// registers of a 32-bit process in the native layout on amd64, but fewer bytes on arm64,
// where get fails with EIO.
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
