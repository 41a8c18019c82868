package seccomp

import (
	"testing"

	"golang.org/x/sys/unix"
)

// The numbers by which programs are started, of each entry as the kernel's tables have them; all
// other calls are allowed.
func TestCount(t *testing.T) {
	notify, allow := Action{Kind: KindNotify}, Action{Kind: Allow}
	for _, e := range []struct {
		a                                         Arch
		audit, bit, execve, execveat, other, more uint32
	}{
		{AMD64, unix.AUDIT_ARCH_X86_64, 0, 59, 322, 57, 520},
		{AMD64, unix.AUDIT_ARCH_X86_64, x32Bit, 520, 545, 57, 59},
		{AMD64, unix.AUDIT_ARCH_I386, 0, 11, 358, 59, 322},
		{ARM64, unix.AUDIT_ARCH_AARCH64, 0, 221, 281, 11, 387},
		{ARM64, unix.AUDIT_ARCH_ARM, 0, 11, 387, 221, 281},
	} {
		for nr, want := range map[uint32]Action{e.execve: notify, e.execveat: notify, e.other: allow, e.more: allow} {
			if got := Run(CountOnly(e.a), Call{Arch: e.audit, Nr: nr | e.bit}); got != want {
				t.Errorf("%v %#x %d: %v, want %v", e.a, e.audit, nr|e.bit, got, want)
			}
		}
	}
	if CountOnly(0) != nil {
		t.Error("there is a program for no architecture")
	}
}
