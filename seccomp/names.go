package seccomp

import "strconv"

// Describe names a call for a message: "openat", or "call 9999" where the
// tables have no name for the number.
func Describe(a Arch, nr uint32) string {
	if name, ok := a.Name(nr); ok {
		return name
	}
	if a == AMD64 && nr >= x32Bit {
		return "x32 call " + strconv.FormatUint(uint64(nr-x32Bit), 10)
	}
	return "call " + strconv.FormatUint(uint64(nr), 10)
}

// x32Bit marks the numbers of the x32 ABI, which shares the architecture word
// of amd64 (__X32_SYSCALL_BIT in asm/unistd.h).
const x32Bit = 0x40000000
