package seccomp

import "golang.org/x/sys/unix"

// gate is one way into the kernel, by its AUDIT_ARCH word, with the numbers of
// the calls that a tracer is to see there. x32 shares the word of amd64 and has
// numbers of its own where the layout of the arguments differs
// (arch/x86/entry/syscalls/syscall_64.tbl).
type gate struct {
	audit            uint32
	execve, execveat []uint32
	ptrace, clone    []uint32
}

// gates lists every entry that a program of this architecture can use.
func (a Arch) gates() []gate {
	switch a {
	case AMD64:
		return []gate{
			{unix.AUDIT_ARCH_X86_64, []uint32{59, x32Bit | 520}, []uint32{322, x32Bit | 545}, []uint32{101, x32Bit | 521}, []uint32{56, x32Bit | 56}},
			{unix.AUDIT_ARCH_I386, []uint32{11}, []uint32{358}, []uint32{26}, []uint32{120}},
		}
	case ARM64:
		return []gate{
			{unix.AUDIT_ARCH_AARCH64, []uint32{221}, []uint32{281}, []uint32{117}, []uint32{220}},
			{unix.AUDIT_ARCH_ARM, []uint32{11}, []uint32{387}, []uint32{26}, []uint32{120}},
		}
	}
	return nil
}

// Traced is the program of a sandbox whose tracer counts programs: execve,
// execveat and ptrace stop for the tracer (Trace), clone with CLONE_UNTRACED is
// EPERM, all else is allowed; by whichever entry. It is a filter of its own,
// loaded beside the sandbox's: of a chain the strictest verdict holds, so it
// opens nothing. It is nil for an architecture that is not known.
//
// Whoever is not traced gets ENOSYS from a call that stops (seccomp(2),
// SECCOMP_RET_TRACE). That is what a child made by clone3 with CLONE_UNTRACED
// gets, whose flags lie in memory where no filter sees them. ptrace is the
// tracer's to answer: another tracer could let such a child's exec through.
func Traced(a Arch) []unix.SockFilter {
	if !a.valid() {
		return nil
	}
	var p assembler
	allow := p.ret(Action{Kind: Allow})
	trace := p.ret(Action{Kind: Trace})
	refuse := p.ret(Fail(unix.EPERM))
	start := allow
	for _, g := range a.gates() {
		flags := p.branch(opAnyBits, unix.CLONE_UNTRACED, refuse, allow)
		flags = p.load(argsAt, flags)
		at := allow
		for _, nr := range g.clone {
			at = p.branch(opEqual, nr, flags, at)
		}
		for _, list := range [][]uint32{g.ptrace, g.execveat, g.execve} {
			for _, nr := range list {
				at = p.branch(opEqual, nr, trace, at)
			}
		}
		at = p.load(nrAt, at)
		// The next entry's test finds the architecture still loaded.
		start = p.branch(opEqual, g.audit, at, start)
	}
	p.load(archAt, start)
	return p.program()
}

// TracedCall is what a call is that stopped by Traced.
type TracedCall uint8

// The calls.
const (
	NotTraced TracedCall = iota
	TracedExecve
	TracedExecveat
	TracedPtrace
)

// TracedCallOf tells which of the calls that Traced stops c is.
func TracedCallOf(a Arch, c Call) TracedCall {
	for _, g := range a.gates() {
		if g.audit != c.Arch {
			continue
		}
		for what, list := range [...][]uint32{TracedExecve: g.execve, TracedExecveat: g.execveat, TracedPtrace: g.ptrace} {
			for _, nr := range list {
				if nr == c.Nr {
					return TracedCall(what)
				}
			}
		}
	}
	return NotTraced
}
