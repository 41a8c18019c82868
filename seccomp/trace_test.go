package seccomp

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// By name, every call of every entry: the tracer sees exec and ptrace, and the rest is allowed.
func TestTraced(t *testing.T) {
	for _, a := range bothArches {
		p := Traced(a)
		stops := map[string]int{}
		for _, nr := range numbers() {
			c := Call{Arch: a.Audit(), Nr: nr}
			got := Run(p, c)
			name, _ := a.Name(nr)
			want := Action{Kind: Allow}
			if name == "execve" || name == "execveat" || name == "ptrace" || a == AMD64 && (nr == x32Bit+520 || nr == x32Bit+545 || nr == x32Bit+521) {
				want = Action{Kind: Trace}
				stops[name]++
			}
			if name == "clone3" || a == AMD64 && nr == x32Bit+435 {
				want = noSuchCall
			}
			if got != want {
				t.Errorf("%v %s (%d): %v, want %v", a, name, nr, got, want)
			}
			// A call that stops is an exec or ptrace: a tracer need not distinguish more.
			if is, _ := Exec(a, c); is && want.Kind != Trace {
				t.Errorf("%v %s (%d) is an exec, and is not seen", a, name, nr)
			}
		}
		for _, name := range []string{"execve", "execveat", "ptrace"} {
			if stops[name] != 1 {
				t.Errorf("%v: %s was met %d times", a, name, stops[name])
			}
		}
	}
}

// These are the numbers of the 32-bit entries in the kernel's tables.
func TestTracedAtOtherEntries(t *testing.T) {
	for _, row := range []struct {
		a     Arch
		audit uint32
		nr    uint32
		want  string
	}{
		{AMD64, unix.AUDIT_ARCH_I386, 11, "execve"},
		{AMD64, unix.AUDIT_ARCH_I386, 358, "execveat"},
		{AMD64, unix.AUDIT_ARCH_I386, 26, "ptrace"},
		{AMD64, unix.AUDIT_ARCH_I386, 435, "clone3"},
		{ARM64, unix.AUDIT_ARCH_ARM, 435, "clone3"},
		{AMD64, unix.AUDIT_ARCH_I386, 59, ""}, // oldolduname there
		{AMD64, unix.AUDIT_ARCH_X86_64, 11, ""},
		{AMD64, unix.AUDIT_ARCH_X86_64, x32Bit | 520, "execve"},
		{AMD64, unix.AUDIT_ARCH_X86_64, x32Bit | 545, "execveat"},
		{AMD64, unix.AUDIT_ARCH_X86_64, x32Bit | 521, "ptrace"},
		{ARM64, unix.AUDIT_ARCH_ARM, 11, "execve"},
		{ARM64, unix.AUDIT_ARCH_ARM, 387, "execveat"},
		{ARM64, unix.AUDIT_ARCH_ARM, 26, "ptrace"},
		{ARM64, unix.AUDIT_ARCH_AARCH64, 11, ""},
		{ARM64, unix.AUDIT_ARCH_X86_64, 59, ""},
	} {
		c := Call{Arch: row.audit, Nr: row.nr}
		want := Action{Kind: Allow}
		switch row.want {
		case "":
		case "clone3":
			want = noSuchCall
		default:
			want.Kind = Trace
		}
		if got := Ptrace(row.a, c); got != (row.want == "ptrace") {
			t.Errorf("%v %#x %d: ptrace %v", row.a, row.audit, row.nr, got)
		}
		if got := Run(Traced(row.a), c); got != want {
			t.Errorf("%v %#x %d: %v, want %v", row.a, row.audit, row.nr, got, want)
		}
		is, at := Exec(row.a, c)
		if is != strings.HasPrefix(row.want, "execve") || at != (row.want == "execveat") {
			t.Errorf("%v %#x %d: exec %v, at %v, want %s", row.a, row.audit, row.nr, is, at, row.want)
		}
	}
	if Traced(0) != nil {
		t.Error("there is a program for no architecture")
	}
}

// No untraced child is made, whatever the other flags are; the kernel reads the low word.
func TestTracedRefusesUntraced(t *testing.T) {
	eperm, allow := Fail(unix.EPERM), Action{Kind: Allow}
	for _, row := range []struct {
		audit, nr uint32
	}{{unix.AUDIT_ARCH_X86_64, 56}, {unix.AUDIT_ARCH_X86_64, x32Bit | 56}, {unix.AUDIT_ARCH_I386, 120}} {
		for flags, want := range map[uint64]Action{
			uint64(unix.SIGCHLD): allow,
			unix.CLONE_VM | unix.CLONE_VFORK | uint64(unix.SIGCHLD):            allow,
			unix.CLONE_PTRACE | uint64(unix.SIGCHLD):                           allow,
			unix.CLONE_UNTRACED:                                                eperm,
			unix.CLONE_UNTRACED | unix.CLONE_VM | unix.CLONE_VFORK | 1<<32:     eperm,
			unix.CLONE_UNTRACED << 32 /* no such flag: the kernel drops it */ : allow,
		} {
			if got := Run(Traced(AMD64), Call{Arch: row.audit, Nr: row.nr, Args: [6]uint64{flags}}); got != want {
				t.Errorf("%d with %#x: %v, want %v", row.nr, flags, got, want)
			}
		}
	}
}

// In addition to the sandbox's own filter it changes no denial: the stricter of both wins, and
// Trace is weaker than every denial.
func TestTracedOpensNothing(t *testing.T) {
	for k := KillProcess; k <= KindNotify; k++ {
		if !(Action{Kind: k}).stricter(Action{Kind: Trace}) {
			t.Errorf("%v does not go before a tracer", k)
		}
	}
	for k := Trace + 1; k <= Allow; k++ {
		if (Action{Kind: k}).stricter(Action{Kind: Trace}) {
			t.Errorf("%v goes before a tracer", k)
		}
	}
	if s := Trace.String(); !strings.HasPrefix(s, "trace") {
		t.Errorf("the kind is called %q", s)
	}
}
