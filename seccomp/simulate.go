package seccomp

import "golang.org/x/sys/unix"

// Call is one system call as a filter sees it (struct seccomp_data).
type Call struct {
	Arch uint32 // an AUDIT_ARCH word, see Arch.Audit
	Nr   uint32 // signed in the kernel; -1 is 0xffffffff
	IP   uint64 // the instruction pointer, which no filter here looks at
	Args [6]uint64
}

// The offsets of struct seccomp_data on the little endian machines that the
// package knows: the low word of argument i is at argsAt + 8*i.
const (
	nrAt   = 0
	archAt = 4
	argsAt = 16
)

// word is the 32-bit word at that offset of struct seccomp_data.
func (c Call) word(at uint32) (w uint32, ok bool) {
	switch {
	case at%4 != 0 || at >= argsAt+6*8:
		return 0, false
	case at == nrAt:
		return c.Nr, true
	case at == archAt:
		return c.Arch, true
	case at < argsAt:
		return uint32(c.IP >> (8 * (at - 8))), true
	}
	return uint32(c.Args[(at-argsAt)/8] >> (8 * (at % 8))), true
}

// Run is the verdict of program p on call c, as the kernel would reach it. It
// knows the instructions that seccomp filters are made of by this package and
// by libseccomp; a program with another one, with a jump out of its end or
// without a return could not be loaded, and is KillProcess here.
func Run(p []unix.SockFilter, c Call) Action {
	bad := Action{Kind: KillProcess}
	var acc uint32
	for pc := 0; pc < len(p); pc++ {
		in := p[pc]
		var jump bool
		switch in.Code {
		case opLoad:
			w, ok := c.word(in.K)
			if !ok {
				return bad
			}
			acc = w
			continue
		case opAnd:
			acc &= in.K
			continue
		case opJump:
			if in.K >= uint32(len(p)) {
				return bad
			}
			pc += int(in.K)
			continue
		case opRet:
			return actionOf(in.K)
		case opEqual:
			jump = acc == in.K
		case opGreater:
			jump = acc > in.K
		case opGreaterEqual:
			jump = acc >= in.K
		case opAnyBits:
			jump = acc&in.K != 0
		default:
			return bad
		}
		if jump {
			pc += int(in.Jt)
		} else {
			pc += int(in.Jf)
		}
	}
	return bad
}
