package seccomp

import "golang.org/x/sys/unix"

// x32Bit marks an x32 call's number on amd64 (arch/x86/include/asm/unistd.h).
// The kernel keeps numbers of their own there for the calls whose arguments
// differ in layout, execve and execveat among them.

// The numbers of execve and execveat at entries other than the native one.
const (
	x32Execve    = x32Bit | 520
	x32Execveat  = x32Bit | 545
	i386Execve   = 11
	i386Execveat = 358
	armExecve    = 11
	armExecveat  = 387
)

// execs lists the numbers of execve and execveat at every entry that a program
// of this architecture can use, by AUDIT_ARCH word.
func (a Arch) execs() []entry {
	execve, _ := a.Number("execve")
	execveat, _ := a.Number("execveat")
	if a == AMD64 {
		return []entry{
			{unix.AUDIT_ARCH_X86_64, []uint32{execve, x32Execve}, []uint32{execveat, x32Execveat}},
			{unix.AUDIT_ARCH_I386, []uint32{i386Execve}, []uint32{i386Execveat}},
		}
	}
	return []entry{
		{unix.AUDIT_ARCH_AARCH64, []uint32{execve}, []uint32{execveat}},
		{unix.AUDIT_ARCH_ARM, []uint32{armExecve}, []uint32{armExecveat}},
	}
}

// entry is one way into the kernel, with what it calls execve and execveat.
type entry struct {
	audit            uint32
	execve, execveat []uint32
}

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
	for _, e := range a.execs() {
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
	for _, e := range a.execs() {
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
