package seccomp

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

func TestKinds(t *testing.T) {
	for k := KillProcess; k <= Allow; k++ {
		a := Action{Kind: k}
		if k == Errno {
			a = Fail(unix.EPERM)
		}
		if got := actionOf(a.ret()); got != a {
			t.Errorf("%v comes back from a program as %v", a, got)
		}
	}
}

// String is the kind's name, as "kill-process"; "none" for the zero Kind.
func (k Kind) String() string {
	return [...]string{"none", "kill-process", "kill-thread", "trap", "errno", "notify", "trace", "log", "allow"}[k]
}

func TestTables(t *testing.T) {
	for _, a := range bothArches {
		names := a.Calls()
		if len(names) < 300 {
			t.Errorf("%v has %d calls", a, len(names))
		}
		for _, name := range names {
			nr, ok := a.Number(name)
			if back, known := a.Name(nr); !ok || !known || back != name {
				t.Errorf("%v: %s is %d, which is %s", a, name, nr, back)
			}
			if slices.Contains(foreignCalls[:], name) {
				t.Errorf("%v: %s is foreign", a, name)
			}
		}
		for _, name := range []string{"", "raed", "socketcall", "zzz"} {
			if nr, ok := a.Number(name); ok {
				t.Errorf("%v: %q is %d", a, name, nr)
			}
		}
		if _, ok := a.Name(1 << 31); ok {
			t.Errorf("%v: a number past the table has a name", a)
		}
	}
	for _, row := range []struct {
		name      string
		amd, arm  uint32
		onlyIntel bool
	}{
		{name: "read", amd: 0, arm: 63}, {name: "execve", amd: 59, arm: 221}, {name: "newfstatat", amd: 262, arm: 79},
		{name: "clone3", amd: 435, arm: 435}, {name: "mseal", amd: 462, arm: 462}, {name: "file_setattr", amd: 469, arm: 469},
		{name: "open", amd: 2, onlyIntel: true}, {name: "uprobe", amd: 336, onlyIntel: true},
	} {
		if nr, ok := AMD64.Number(row.name); !ok || nr != row.amd {
			t.Errorf("amd64 %s is %d", row.name, nr)
		}
		if nr, ok := ARM64.Number(row.name); ok == row.onlyIntel || nr != row.arm {
			t.Errorf("arm64 %s is %d", row.name, nr)
		}
	}
	if !slices.IsSorted(foreignCalls[:]) || !known("socketcall") || !known("open") || known("raed") {
		t.Error("known is wrong")
	}
	if AMD64.String() != "amd64" || Arch(0).String() != "none" || Arch(0).Audit() != 0 || Arch(9).Calls() != nil {
		t.Error("the names of architectures are wrong")
	}
	for nr, want := range map[uint32]string{0: "read", 400: "call 400", x32Bit + 1: "x32 call 1"} {
		if got := describe(AMD64, nr); got != want {
			t.Errorf("%d is described as %q", nr, got)
		}
	}
}
