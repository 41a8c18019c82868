package seccomp

// Call is one system call as a filter sees it (struct seccomp_data).
type Call struct {
	Arch uint32 // an AUDIT_ARCH word, see Arch.Audit
	Nr   uint32 // signed in the kernel; -1 is 0xffffffff
	IP   uint64 // the instruction pointer, at which no filter here looks
	Args [6]uint64
}

// These are the offsets in struct seccomp_data on the little-endian machines that the package
// knows: the low word of argument i is at argsAt + 8*i.
const (
	nrAt   = 0
	archAt = 4
	argsAt = 16
)

// x32Bit marks the numbers of the x32 ABI, which shares the architecture word
// of amd64 (__X32_SYSCALL_BIT in asm/unistd.h).
const x32Bit = 0x40000000
