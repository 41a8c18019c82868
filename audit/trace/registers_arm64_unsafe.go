//go:build arm64

package trace

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// ntSystemCall is the note of the number of the call under way, which is in no
// register (NT_ARM_SYSTEM_CALL of <linux/elf.h>).
const ntSystemCall = 0x404

// result is what a call returned.
func (r *registers) result() int64 { return int64(r.Regs[0]) }

// put makes the call under way, of which these are the registers, another one:
// -1 is none, and then result is what it returns. The first argument and the
// result are one register here, so result counts for -1 alone.
func (r *registers) put(tid int, nr, result int64) unix.Errno {
	if nr < 0 {
		r.Regs[0] = uint64(result)
	}
	if e := r.set(tid); e != 0 {
		return e
	}
	number := int32(nr)
	return setNote(tid, ntSystemCall, unsafe.Pointer(&number), unsafe.Sizeof(number))
}

// arguments replaces the first three arguments.
func (r *registers) arguments(a, b, c uint64) { r.Regs[0], r.Regs[1], r.Regs[2] = a, b, c }

// answer replaces what a call returned.
func (r *registers) answer(result int64) { r.Regs[0] = uint64(result) }
