package seccomp

import (
	"slices"

	"golang.org/x/sys/unix"
)

// Traced is the program of a sandbox whose tracer counts programs: execve,
// execveat and ptrace stop for the tracer (Trace), clone with CLONE_UNTRACED is
// EPERM and clone3 ENOSYS, all else is allowed; by whichever entry. It is a
// filter of its own, loaded beside the sandbox's: of a chain the strictest
// verdict holds, so it opens nothing. It is nil for an architecture that is not
// known.
//
// Nobody inside may be without the tracer. Whoever is not traced gets ENOSYS
// from a call that stops (seccomp(2), SECCOMP_RET_TRACE), but could have that
// changed: by a tracer of its own, or by a filter of its own with a listener,
// which goes before a tracer. So no child is made untraced: the flag is refused,
// and clone3 with it, whose flags lie in memory where no filter sees them (libc
// falls back to clone); and ptrace is the tracer's to answer.
func Traced(a Arch) []unix.SockFilter {
	return byEntry(a, func(p *assembler, e entry, allow label) []verdict {
		trace := p.ret(Action{Kind: Trace})
		flags := p.load(argsAt, p.branch(opAnyBits, unix.CLONE_UNTRACED, p.ret(Fail(unix.EPERM)), allow))
		return []verdict{{flags, e.clone}, {p.ret(noSuchCall), e.clone3}, {trace, e.ptrace}, {trace, e.execveat}, {trace, e.execve}}
	})
}

// Ptrace tells whether a call is ptrace, by whichever entry.
func Ptrace(a Arch, c Call) bool {
	for _, e := range a.entries() {
		if e.audit == c.Arch && slices.Contains(e.ptrace, c.Nr) {
			return true
		}
	}
	return false
}
