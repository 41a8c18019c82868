package seccomp

import (
	"sync"

	"golang.org/x/sys/unix"
)

// Absent reports whether this kernel answers ENOSYS to a call by an x32 number: most kernels are
// built without x32 (CONFIG_X86_X32_ABI).
func Absent(c Call) bool {
	return c.Arch == unix.AUDIT_ARCH_X86_64 && c.Nr&x32Bit != 0 && noX32()
}

var noX32 = sync.OnceValue(func() bool {
	const getpid = 39 // of amd64 and x32 alike
	_, _, e := unix.RawSyscall(x32Bit|getpid, 0, 0, 0)
	return e == unix.ENOSYS
})
