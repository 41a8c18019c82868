package seccomp

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestJoin asks the joined program and each of its parts about every call.
func TestJoin(t *testing.T) {
	arch := Native
	own := Filter{Name: "own", Default: Action{Kind: Allow}, Rules: []Rule{
		{Calls: []string{"uname", "getppid"}, Do: Fail(unix.ENOSYS), Why: "a test"},
		{Calls: []string{"socket"}, Do: Fail(unix.EACCES), Args: []Arg{{Index: 0, Op: Equal, Value: unix.AF_INET}}, Why: "a test"},
		{Calls: []string{"sync"}, Do: Action{Kind: Log}, Why: "a test"},
	}}
	var parts [][]unix.SockFilter
	for _, f := range []Filter{own, Default(Options{}), Default(Options{Unix: true, Root: true})} {
		p, err := Program(f, arch)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, p)
	}
	joined, err := Join(parts...)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for nr := range uint32(600) {
		for _, arg := range []uint64{0, 1, unix.AF_INET, unix.AF_VSOCK, unix.AF_UNIX, 1 << 28, 1<<64 - 1} {
			for _, a := range []Arch{AMD64, ARM64} {
				c := Call{Arch: a.Audit(), Nr: nr, Args: [6]uint64{arg, arg, arg}}
				want := Action{Kind: Allow}
				for _, p := range parts {
					if got := Run(p, c); got.Kind != Allow && got.Kind != Log {
						want = got
						break
					}
				}
				if got := Run(joined, c); got != want {
					t.Fatalf("%d(%#x) of %v: got %v, want %v", nr, arg, a, got, want)
				}
				if want.Kind != Allow {
					refused++
				}
			}
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
	long := make([]unix.SockFilter, maxProgram)
	if _, err := Join(long, long); err == nil {
		t.Error("8192 instructions were taken")
	}
}
