package seccomp

import "golang.org/x/sys/unix"

// CountOnly is the program that notifies of execve and execveat, by whichever
// entry, and allows everything else: for a sandbox that constrains nothing and
// yet counts. It is nil for an architecture that is not known.
func CountOnly(a Arch) []unix.SockFilter {
	return byEntry(a, func(p *assembler, e entry, _ label) []verdict {
		notify := p.ret(Action{Kind: KindNotify})
		return []verdict{{notify, e.execveat}, {notify, e.execve}}
	})
}

// Exec reports whether a call is execve or execveat, by any entry.
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
