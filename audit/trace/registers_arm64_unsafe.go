//go:build arm64

package trace

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// ntSystemCall is NT_ARM_SYSTEM_CALL of linux/elf.h, the register set that holds the
// number of the current call: no general register does.
const ntSystemCall = 0x404

// result returns the return value of a call.
func (r *registers) result() int64 { return int64(r.Regs[0]) }

// put replaces the call at which the process stopped by call number nr. With -1 no call
// is made and result is returned. Otherwise result is ignored: the first argument and
// the return value share a register.
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

// answer sets the return value of a call.
func (r *registers) answer(result int64) { r.Regs[0] = uint64(result) }
