package seccomp

import (
	"slices"

	"golang.org/x/sys/unix"
)

// Traced returns the program of a sandbox whose tracer counts programs. By any entry, execve,
// execveat and ptrace stop for the tracer (Trace), clone with CLONE_UNTRACED fails with EPERM and
// clone3 with ENOSYS, and all else is allowed. It is a filter of its own, loaded in addition to the
// sandbox's: of a chain the strictest verdict wins, so it opens nothing. It returns nil for an
// unknown architecture.
//
// No process inside may run without the tracer. In a process that is not traced, a call that would
// stop fails with ENOSYS (seccomp(2), SECCOMP_RET_TRACE). But the process could change that, by a
// tracer of its own, or by a filter of its own with a listener, which is asked before a tracer. So
// the filter prevents untraced children: it denies the flag, and clone3, whose flags lie in memory
// where no filter sees them (libc falls back to clone). Calls of ptrace are answered by the tracer.
func Traced(a Arch) []unix.SockFilter {
	return byEntry(a, func(p *assembler, e entry, allow label) []verdict {
		trace := p.ret(Action{Kind: Trace})
		flags := p.load(argsAt, p.branch(opAnyBits, unix.CLONE_UNTRACED, p.ret(Fail(unix.EPERM)), allow))
		return []verdict{{flags, e.clone}, {p.ret(noSuchCall), e.clone3}, {trace, e.ptrace}, {trace, e.execveat}, {trace, e.execve}}
	})
}

// Ptrace reports whether a call is ptrace, by any entry.
func Ptrace(a Arch, c Call) bool {
	for _, e := range a.entries() {
		if e.audit == c.Arch && slices.Contains(e.ptrace, c.Nr) {
			return true
		}
	}
	return false
}
