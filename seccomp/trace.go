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
	if !a.valid() {
		return nil
	}
	var p assembler
	allow := p.ret(Action{Kind: Allow})
	trace := p.ret(Action{Kind: Trace})
	refuse := p.ret(Fail(unix.EPERM))
	unknown := p.ret(noSuchCall)
	start := allow
	for _, e := range a.entries() {
		flags := p.branch(opAnyBits, unix.CLONE_UNTRACED, refuse, allow)
		flags = p.load(argsAt, flags)
		at := allow
		for _, row := range []struct {
			to    label
			calls [][]uint32
		}{{flags, [][]uint32{e.clone}}, {unknown, [][]uint32{e.clone3}}, {trace, [][]uint32{e.ptrace, e.execveat, e.execve}}} {
			for _, list := range row.calls {
				for _, nr := range list {
					at = p.branch(opEqual, nr, row.to, at)
				}
			}
		}
		at = p.load(nrAt, at)
		// The next entry's test finds the architecture still loaded.
		start = p.branch(opEqual, e.audit, at, start)
	}
	p.load(archAt, start)
	return p.program()
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
