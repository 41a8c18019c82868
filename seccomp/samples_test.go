package seccomp

import (
	"iter"
	"math/rand/v2"
	"slices"
)

var bothArches = []Arch{AMD64, ARM64}

// numbers returns the call numbers that tests try: all that have a name, the gaps between and after
// them, x32 and odd ones.
func numbers() []uint32 {
	var nrs []uint32
	for nr := range uint32(600) {
		nrs = append(nrs, nr)
	}
	for _, nr := range []uint32{0, 1, 39, 56, 59, 101, 435, 512, 519, 520, 547} {
		nrs = append(nrs, x32Bit+nr)
	}
	return append(nrs, 1000, 4095, 0x3fffffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff)
}

// values returns the arguments worth trying at that index for a call under f: for each condition
// its value, the neighbours of that and the bits of its mask, each also with high bits set, and the
// flags that go with socket types.
func values(f Filter, name string, index int) []uint64 {
	vs := []uint64{0, 1}
	for _, r := range f.Rules {
		if !slices.Contains(r.Calls, name) {
			continue
		}
		for _, g := range r.Args {
			if g.Index != index {
				continue
			}
			vs = append(vs, g.Value, g.Value+1, g.Value-1)
			if g.Mask == 0 {
				continue
			}
			vs = append(vs, g.Mask, ^g.Mask, g.Value|^g.Mask, g.Value|0x80800)
			for bit := range 64 {
				if g.Mask>>bit&1 != 0 {
					vs = append(vs, g.Value^1<<bit)
				}
			}
		}
	}
	for _, v := range vs {
		vs = append(vs, v|1<<32, v|0xffffffff<<32, uint64(uint32(v)))
	}
	slices.Sort(vs)
	return slices.Compact(vs)
}

// each returns every combination of interesting arguments of the call with that number. For an
// argument on which no rule depends it tries only one value.
func each(f Filter, a Arch, nr uint32) iter.Seq[Call] {
	name, _ := a.Name(nr)
	var tried [6][]uint64
	for _, r := range f.Rules {
		if slices.Contains(r.Calls, name) {
			for _, g := range r.Args {
				tried[g.Index] = values(f, name, g.Index)
			}
		}
	}
	return func(yield func(Call) bool) {
		c := Call{Arch: a.Audit(), Nr: nr}
		var walk func(int) bool
		walk = func(i int) bool {
			if i == len(tried) {
				return yield(c)
			}
			if tried[i] == nil {
				return walk(i + 1)
			}
			for _, v := range tried[i] {
				c.Args[i] = v
				if !walk(i + 1) {
					return false
				}
			}
			return true
		}
		walk(0)
	}
}

// randomFilter returns a valid filter of a few calls and many conditions.
func randomFilter(r *rand.Rand) Filter {
	f := Filter{Name: "random", Default: randomAction(r)}
	calls := append(AMD64.Calls(), ARM64.Calls()...)
	for range r.IntN(40) {
		rule := Rule{Do: randomAction(r), Why: "because"}
		for range 1 + r.IntN(20) {
			rule.Calls = append(rule.Calls, calls[r.IntN(len(calls))])
		}
		if r.IntN(3) > 0 {
			rule.Calls = append(rule.Calls, "ioctl", "socket")
		}
		for range r.IntN(4) {
			rule.Args = append(rule.Args, randomArg(r))
		}
		f.Rules = append(f.Rules, rule)
	}
	return f
}

func randomAction(r *rand.Rand) Action {
	a := Action{Kind: Kind(1 + r.IntN(int(Allow)))}
	if a.Kind == Errno {
		a.Errno = uint16(1 + r.IntN(maxErrno))
	}
	return a
}

func randomArg(r *rand.Rand) Arg {
	g := Arg{Index: r.IntN(3), Op: Op(1 + r.IntN(int(AnyBits))), Wide: r.IntN(2) == 0}
	word := func() uint64 {
		v := uint64(r.IntN(5))
		if r.IntN(3) == 0 {
			v = uint64(r.Uint32())
		}
		if g.Wide && r.IntN(2) == 0 {
			v |= uint64(r.IntN(3)) << 32
		}
		return v
	}
	switch g.Op {
	case MaskedEqual:
		g.Mask = word() | 1
		g.Value = word() & g.Mask
	case AnyBits:
		g.Mask = word() | 2
	default:
		g.Value = word()
	}
	return g
}
