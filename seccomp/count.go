package seccomp

import "golang.org/x/sys/unix"

// CountOnly is the program that notifies of execve and execveat, by whichever
// entry, and allows everything else: for a sandbox that constrains nothing and
// yet counts. It is nil for an architecture that is not known.
func CountOnly(a Arch) []unix.SockFilter {
	if !a.valid() {
		return nil
	}
	var p assembler
	allow := p.ret(Action{Kind: Allow})
	notify := p.ret(Action{Kind: KindNotify})
	start := allow
	for _, e := range a.entries() {
		at := allow
		for _, nr := range append(append([]uint32{}, e.execveat...), e.execve...) {
			at = p.branch(opEqual, nr, notify, at)
		}
		// The number is loaded only where the architecture is this one; the
		// next test finds the architecture still loaded.
		at = p.load(nrAt, at)
		start = p.branch(opEqual, e.audit, at, start)
	}
	p.load(archAt, start)
	return p.program()
}

// Exec tells whether a call is execve or execveat, by whichever entry.
func Exec(a Arch, c Call) (is, at bool) {
	if !a.valid() {
		return false, false
	}
	for _, e := range a.entries() {
		if e.audit != c.Arch {
			continue
		}
		for i := range e.execve {
			switch c.Nr {
			case e.execve[i]:
				return true, false
			case e.execveat[i]:
				return true, true
			}
		}
	}
	return false, false
}
