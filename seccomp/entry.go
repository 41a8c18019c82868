package seccomp

import "golang.org/x/sys/unix"

// entry is one way into the kernel, by its AUDIT_ARCH word, with the numbers
// that the calls have there which start programs and trace processes. x32
// shares amd64's word, and has numbers of its own for calls whose arguments
// differ in layout (arch/x86/entry/syscalls/syscall_64.tbl).
type entry struct {
	audit            uint32
	execve, execveat []uint32
	ptrace, clone    []uint32
	clone3           []uint32
}

// These are the entries, as data: each notification is compared with them.
var (
	amd64Entries = [...]entry{
		{unix.AUDIT_ARCH_X86_64, []uint32{59, x32Bit | 520}, []uint32{322, x32Bit | 545}, []uint32{101, x32Bit | 521}, []uint32{56, x32Bit | 56}, []uint32{435, x32Bit | 435}},
		{unix.AUDIT_ARCH_I386, []uint32{11}, []uint32{358}, []uint32{26}, []uint32{120}, []uint32{435}},
	}
	arm64Entries = [...]entry{
		{unix.AUDIT_ARCH_AARCH64, []uint32{221}, []uint32{281}, []uint32{117}, []uint32{220}, []uint32{435}},
		{unix.AUDIT_ARCH_ARM, []uint32{11}, []uint32{387}, []uint32{26}, []uint32{120}, []uint32{435}},
	}
)

// entries lists the entries that a program of this architecture can use.
func (a Arch) entries() []entry {
	switch a {
	case AMD64:
		return amd64Entries[:]
	case ARM64:
		return arm64Entries[:]
	}
	return nil
}

// verdict leads to a return of the program for some calls, by their numbers.
type verdict struct {
	to    label
	calls []uint32
}

// byEntry is the program that gives the verdicts on the calls of each way in, and allows
// all others; nil for an architecture that is not known.
func byEntry(a Arch, verdicts func(p *assembler, e entry, allow label) []verdict) []unix.SockFilter {
	if !a.valid() {
		return nil
	}
	var p assembler
	allow := p.ret(Action{Kind: Allow})
	start := allow
	for _, e := range a.entries() {
		at := allow
		for _, v := range verdicts(&p, e, allow) {
			for _, nr := range v.calls {
				at = p.branch(opEqual, nr, v.to, at)
			}
		}
		// The number is loaded only where the architecture is this one; the
		// next test finds the architecture still loaded.
		at = p.load(nrAt, at)
		start = p.branch(opEqual, e.audit, at, start)
	}
	p.load(archAt, start)
	return p.program()
}
