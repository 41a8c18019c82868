package seccomp

import (
	"errors"
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/unix"
)

// A program gives the same verdict on every call as its filter, rule by rule.
func TestProgramIsItsFilter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	filters := make([]Filter, 0, 80)
	for _, o := range Variants() {
		filters = append(filters, Default(o))
	}
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	for range rounds {
		filters = append(filters, WithSideDoors(randomFilter(r), Options{}), randomFilter(r))
	}
	for _, f := range filters {
		for _, a := range bothArches {
			p := program(t, f, a)
			for _, nr := range numbers() {
				name, _ := a.Name(nr)
				if f.Name != "default" { // too many combinations: draw some
					for range 8 {
						compare(t, f, p, drawn(r, f, a, nr, name))
					}
					continue
				}
				for c := range each(f, a, nr) {
					compare(t, f, p, c)
				}
			}
		}
	}
}

// drawn returns a random call with interesting arguments.
func drawn(r *rand.Rand, f Filter, a Arch, nr uint32, name string) Call {
	c := Call{Arch: a.Audit(), Nr: nr}
	for i := range 3 {
		vs := values(f, name, i)
		c.Args[i] = vs[r.IntN(len(vs))]
	}
	return c
}

func program(t *testing.T, f Filter, a Arch) []unix.SockFilter {
	t.Helper()
	p, err := Program(f, a)
	if err != nil {
		t.Fatalf("Program(%s, %v): %v", f.Name, a, err)
	}
	return p
}

func compare(t *testing.T, f Filter, p []unix.SockFilter, c Call) {
	t.Helper()
	want, why := f.Verdict(c)
	if got := Run(p, c); got != want {
		t.Fatalf("%s: %s %#x: program says %v, filter says %v (%s)", f.Name, describe(archOf(c.Arch), c.Nr), c.Args, got, want, why)
	}
}

// Every jump of a program ends inside it. Every instruction is reached by a jump or from the one
// before.
func TestProgramIsWellFormed(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 200 {
		f := randomFilter(r)
		if i < 16 {
			f = Default(Variants()[i])
		}
		for _, a := range bothArches {
			p := program(t, f, a)
			reached := make([]bool, len(p)+1)
			reached[0] = true
			for pc, in := range p {
				if !reached[pc] {
					t.Errorf("%s, %v: instruction %d of %d is never reached", f.Name, a, pc, len(p))
				}
				for _, next := range successors(pc, in) {
					if next >= len(p) {
						t.Fatalf("%s, %v: instruction %d leaves the program", f.Name, a, pc)
					}
					reached[next] = true
				}
			}
		}
	}
}

func successors(pc int, in unix.SockFilter) []int {
	switch in.Code {
	case opRet:
		return nil
	case opJump:
		return []int{pc + 1 + int(in.K)}
	case opLoad, opAnd:
		return []int{pc + 1}
	}
	return []int{pc + 1 + int(in.Jt), pc + 1 + int(in.Jf)}
}

// A program that is longer than the reach of a conditional jump gives the same verdicts as its
// filter: here each call has an errno of its own, and a chain of conditions.
func TestFarJumps(t *testing.T) {
	f := Filter{Name: "far", Default: Action{Kind: Allow}}
	for i, name := range AMD64.Calls() {
		f.Rules = append(f.Rules, Rule{
			Calls: []string{name}, Do: Action{Kind: Errno, Errno: uint16(1 + i)},
			Args: []Arg{{Index: 0, Op: Equal, Value: uint64(i), Wide: true}},
		})
	}
	p := program(t, f, AMD64)
	if len(p) < 2000 {
		t.Fatalf("%d instructions are too few to be far", len(p))
	}
	for nr := range uint32(500) {
		for c := range each(f, AMD64, nr) {
			compare(t, f, p, c)
		}
	}
	for range 3 {
		f.Rules = append(f.Rules, f.Rules...)
		for i := range f.Rules {
			f.Rules[i].Args = []Arg{{Index: i % 6, Op: Equal, Value: uint64(i)}}
		}
	}
	var long *FilterError
	if _, err := Program(f, AMD64); !errors.As(err, &long) {
		t.Errorf("a program over 4096 instructions: error is %v", err)
	}
}

func TestOtherEntriesEndTheProcess(t *testing.T) {
	for _, a := range bothArches {
		for _, def := range []Action{{Kind: Allow}, Fail(unix.EPERM)} {
			p := program(t, Filter{Name: "f", Default: def}, a)
			for _, audit := range []uint32{unix.AUDIT_ARCH_I386, unix.AUDIT_ARCH_ARM, 0, 0xffffffff, AMD64.Audit(), ARM64.Audit()} {
				if audit == a.Audit() {
					continue
				}
				if got := Run(p, Call{Arch: audit, Nr: 1}); got.Kind != KillProcess {
					t.Errorf("%v: entry %#x gives %v", a, audit, got)
				}
			}
		}
	}
}

func TestUnknownNumbers(t *testing.T) {
	for _, c := range []struct {
		def, want Action
	}{
		{Action{Kind: Allow}, noSuchCall},
		{Action{Kind: Log}, noSuchCall},
		{Fail(unix.EACCES), noSuchCall},
		{Action{Kind: KillProcess}, Action{Kind: KillProcess}},
		{Action{Kind: Trap}, Action{Kind: Trap}},
	} {
		p := program(t, Filter{Name: "f", Default: c.def}, AMD64)
		for _, nr := range []uint32{400, 550, x32Bit, x32Bit + 1, x32Bit + 59, 0xffffffff} {
			if got := Run(p, Call{Arch: AMD64.Audit(), Nr: nr}); got != c.want {
				t.Errorf("default %v, %s: %v, want %v", c.def, describe(AMD64, nr), got, c.want)
			}
		}
	}
}

func TestBadFilters(t *testing.T) {
	allow := Action{Kind: Allow}
	arg := func(g Arg) Filter {
		return Filter{Name: "f", Default: allow, Rules: []Rule{{Calls: []string{"ioctl"}, Do: allow, Args: []Arg{g}}}}
	}
	for name, f := range map[string]Filter{
		"no default":            {Name: "f"},
		"errno 0":               {Name: "f", Default: Action{Kind: Errno}},
		"errno 4096":            {Name: "f", Default: Action{Kind: Errno, Errno: 4096}},
		"allow with errno":      {Name: "f", Default: Action{Kind: Allow, Errno: 1}},
		"kind 99":               {Name: "f", Default: Action{Kind: 99}},
		"rule without action":   {Name: "f", Default: allow, Rules: []Rule{{Calls: []string{"read"}}}},
		"no such call":          {Name: "f", Default: allow, Rules: []Rule{{Calls: []string{"raed"}, Do: allow}}},
		"argument 6":            arg(Arg{Index: 6, Op: Equal}),
		"argument -1":           arg(Arg{Index: -1, Op: Equal}),
		"no comparison":         arg(Arg{}),
		"comparison 99":         arg(Arg{Op: 99}),
		"mask without use":      arg(Arg{Op: Equal, Mask: 1}),
		"no mask":               arg(Arg{Op: MaskedEqual}),
		"value outside mask":    arg(Arg{Op: MaskedEqual, Mask: 1, Value: 2}),
		"any-bits with a value": arg(Arg{Op: AnyBits, Mask: 1, Value: 1}),
		"long value":            arg(Arg{Op: Equal, Value: 1 << 32}),
		"long mask":             arg(Arg{Op: AnyBits, Mask: 1 << 32}),
	} {
		var bad *FilterError
		if p, err := Program(f, AMD64); !errors.As(err, &bad) || p != nil {
			t.Errorf("%s: %d instructions, error %v", name, len(p), err)
		}
	}
	if _, err := Program(Default(Options{}), 0); err == nil {
		t.Error("the zero architecture: no error")
	}
	elsewhere := Filter{Name: "f", Default: allow, Rules: []Rule{{Calls: []string{"socketcall", "s390_runtime_instr"}, Do: allow}}}
	if _, err := Program(elsewhere, AMD64); err != nil {
		t.Errorf("calls of other architectures: %v", err)
	}
}
