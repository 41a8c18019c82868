package seccomp

import (
	"testing"

	"golang.org/x/sys/unix"
)

// The numbers by which programs are started and user namespaces are made, of each entry as the
// kernel's tables have them; all other calls are allowed.
func TestCount(t *testing.T) {
	notify, eperm, allow := Action{Kind: KindNotify}, Fail(unix.EPERM), Action{Kind: Allow}
	for _, e := range []struct {
		a                                                      Arch
		audit, bit                                             uint32
		execve, execveat, clone, clone3, unshare, setns, other uint32
	}{
		{AMD64, unix.AUDIT_ARCH_X86_64, 0, 59, 322, 56, 435, 272, 308, 57},
		{AMD64, unix.AUDIT_ARCH_X86_64, x32Bit, 520, 545, 56, 435, 272, 308, 57},
		{AMD64, unix.AUDIT_ARCH_I386, 0, 11, 358, 120, 435, 310, 346, 59},
		{ARM64, unix.AUDIT_ARCH_AARCH64, 0, 221, 281, 220, 435, 97, 268, 11},
		{ARM64, unix.AUDIT_ARCH_ARM, 0, 11, 387, 120, 435, 337, 375, 2},
	} {
		count, inPlace := CountOnly(e.a), CountInPlace(e.a)
		for _, row := range []struct {
			nr       uint32
			flags    uint64
			in, only Action
		}{
			{e.execve, 0, notify, notify}, {e.execveat, 0, notify, notify}, {e.other, unix.CLONE_NEWUSER, allow, allow},
			{e.clone3, 0, noSuchCall, allow}, {e.setns, 0, eperm, allow},
			{e.clone, uint64(unix.SIGCHLD), allow, allow}, {e.unshare, unix.CLONE_NEWNS | unix.CLONE_FS, allow, allow},
			{e.clone, unix.CLONE_NEWUSER | unix.CLONE_NEWNS, eperm, allow}, {e.unshare, unix.CLONE_NEWUSER | 1<<32, eperm, allow},
			{e.unshare, unix.CLONE_NEWUSER << 32, allow, allow}, // no such flag: the kernel reads the low word
		} {
			c := Call{Arch: e.audit, Nr: row.nr | e.bit, Args: [6]uint64{row.flags}}
			if got := Run(inPlace, c); got != row.in {
				t.Errorf("%v %#x %d with %#x: in place %v, want %v", e.a, e.audit, c.Nr, row.flags, got, row.in)
			}
			if got := Run(count, c); got != row.only {
				t.Errorf("%v %#x %d with %#x: %v, want %v", e.a, e.audit, c.Nr, row.flags, got, row.only)
			}
		}
	}
	if CountOnly(0) != nil || CountInPlace(0) != nil {
		t.Error("there is a program for no architecture")
	}
}
