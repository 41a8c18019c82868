package seccomp

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// word returns the 32-bit word at that offset of struct seccomp_data.
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

// Run returns the verdict of program p on call c, as the kernel would reach it. It knows the
// instructions that this package and libseccomp use in seccomp filters. For a program that could
// not be loaded, because of another instruction, a jump out of its end or a missing return, it
// returns KillProcess.
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

// actionOf interprets a BPF program's return value as the kernel does: an unknown one is
// KillProcess. The number for the tracer in a TRACE is dropped, since no filter of this package
// uses one.
func actionOf(ret uint32) Action {
	for k := KillProcess; k <= Allow; k++ {
		if returns[k] != ret&unix.SECCOMP_RET_ACTION_FULL {
			continue
		}
		if k == Errno {
			return Action{Kind: k, Errno: min(uint16(ret), maxErrno)}
		}
		return Action{Kind: k}
	}
	return Action{Kind: KillProcess}
}

// describe names a call: "openat", or "call 9999" if the tables have no name for the number.
func describe(a Arch, nr uint32) string {
	if name, ok := a.Name(nr); ok {
		return name
	}
	if a == AMD64 && nr >= x32Bit {
		return "x32 call " + strconv.FormatUint(uint64(nr-x32Bit), 10)
	}
	return "call " + strconv.FormatUint(uint64(nr), 10)
}

// Calls lists the names of all calls of this architecture, sorted by their numbers.
func (a Arch) Calls() []string {
	if !a.valid() {
		return nil
	}
	var names []string
	for _, name := range arches[a].byNumber {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// embedded returns the program of Default(o) for the architecture of this test, ready to be loaded;
// nil if there is none. The caller owns the slice.
func embedded(o Options) []unix.SockFilter { return decode(Shipped(o, Native)) }

// decode reads instructions in the form of Shipped. It ignores bytes at the end that are not a
// whole instruction.
func decode(s string) []unix.SockFilter {
	if len(s) < insnSize {
		return nil
	}
	prog := make([]unix.SockFilter, len(s)/insnSize)
	for i := range prog {
		in := s[insnSize*i:][:insnSize]
		prog[i] = unix.SockFilter{
			Code: uint16(in[0]) | uint16(in[1])<<8,
			Jt:   in[2], Jf: in[3],
			K: word32(in[4:]),
		}
	}
	return prog
}

// fprog returns a program in the form that seccomp(2) takes.
func fprog(p []unix.SockFilter) unix.SockFprog {
	return unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
}
