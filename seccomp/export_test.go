package seccomp

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/opencontainers/runtime-spec/specs-go"
	"golang.org/x/sys/unix"
)

// The exported profile, read back and compiled, allows exactly what the default filter allows,
// whatever the arguments and their high bits.
func TestExportedProfileIsTheDefaultFilter(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	values := []uint64{0, 1, 2, 3, 5, 10, 16, 17, 40, 44, unix.TIOCSTI, tioclinux, unix.TIOCSTI + 1, 0x50009401, 0x50009417, 0x40209417, 0x4020bc10, 0x8020bc10, 0xc0506617, 0xc0406618, 0xc0406619, 0xc080661a, unix.F_SETLEASE, unix.F_SETLEASE + 16, unix.S_IFBLK, unix.S_IFCHR | 0o644, unix.S_IFREG,
		unix.S_IFIFO, unix.CLONE_NEWUSER, unix.CLONE_NEWNS, unix.CLONE_VM, unix.SOCK_RAW | unix.SOCK_CLOEXEC, unix.SOCK_DGRAM | unix.SOCK_NONBLOCK}
	for _, a := range []Arch{AMD64, ARM64} {
		for _, o := range []Options{{}, {Root: true}, {Unix: true}, {Root: true, Unix: true}, {NoInet: true, Unix: true}} {
			doc := AppendOCI(nil, o, a)
			var decoded specs.LinuxSeccomp
			if err := json.Unmarshal(doc, &decoded); err != nil {
				t.Fatalf("%v\n%s", err, doc)
			}
			f, err := Profile("exported", doc, Conditions{Arch: a, Kernel: [2]int{6, 18}})
			if err != nil {
				t.Fatal(err)
			}
			prog, own := program(t, f, a), Default(o)
			for nr, name := range arches[a].byNumber {
				if name == "" {
					continue
				}
				tries := 1
				if own.conditional(name) {
					tries = 3000
				}
				for range tries {
					c := Call{Arch: a.Audit(), Nr: uint32(nr)}
					for i := range c.Args {
						c.Args[i] = values[rng.IntN(len(values))]
						if rng.IntN(4) == 0 {
							c.Args[i] |= uint64(rng.Uint32()) << 32
						}
					}
					got := Run(prog, c)
					want, _ := own.Verdict(c)
					if got != want && (got.Kind == Allow || want.Kind == Allow || !own.conditional(name)) {
						t.Fatalf("%v %+v: %s%v is %v, want %v", a, o, name, c.Args, got, want)
					}
				}
			}
		}
	}
}

// The export divides the arguments of every call that is decided by arguments, and allows some of
// them.
func TestExportKnowsWhatIsConditional(t *testing.T) {
	o := Options{Root: true, Unix: true}
	f := Default(o)
	for _, a := range []Arch{AMD64, ARM64} {
		for _, name := range arches[a].byNumber {
			if name != "" && f.conditional(name) && len(f.allows(a, name)) == 0 {
				t.Errorf("%v: %s is allowed by nothing", a, name)
			}
		}
	}
	if parts := outside(1, only(5)); slices.ContainsFunc(parts, func(p part) bool { return 5&p.mask == p.value }) || len(parts) != 32 {
		t.Errorf("%v", parts)
	}
}
