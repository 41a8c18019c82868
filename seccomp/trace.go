package seccomp

import "golang.org/x/sys/unix"

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
	for _, e := range a.entries() {
		flags := p.branch(opAnyBits, unix.CLONE_UNTRACED, refuse, allow)
		flags = p.load(argsAt, flags)
		at := allow
		for _, nr := range e.clone {
			at = p.branch(opEqual, nr, flags, at)
		}
		for _, list := range [][]uint32{e.ptrace, e.execveat, e.execve} {
			for _, nr := range list {
				at = p.branch(opEqual, nr, trace, at)
			}
		}
		at = p.load(nrAt, at)
		// The next entry's test finds the architecture still loaded.
		start = p.branch(opEqual, e.audit, at, start)
	}
	p.load(archAt, start)
	return p.program()
}
