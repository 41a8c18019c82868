//go:build oracle && cgo

package seccomp

import (
	"encoding/binary"
	"io"
	"math/bits"
	"os"
	"slices"
	"testing"

	"github.com/seccomp/libseccomp-golang"
	"golang.org/x/sys/unix"
)

// The oracle is libseccomp: the programs that it makes from the same data must give the same
// verdicts when the interpreter here runs them. A single filter of libseccomp has one default and
// cannot have several verdicts on one call. So each kind of verdict becomes a filter of its own,
// and the strictest verdict wins, as in the kernel's chain of filters.

var scmpArch = map[Arch]seccomp.ScmpArch{AMD64: seccomp.ArchAMD64, ARM64: seccomp.ArchARM64}

func scmpAction(a Action) seccomp.ScmpAction {
	switch a.Kind {
	case KillProcess:
		return seccomp.ActKillProcess
	case KillThread:
		return seccomp.ActKillThread
	case Trap:
		return seccomp.ActTrap
	case Errno:
		return seccomp.ActErrno.SetReturnCode(int16(a.Errno))
	case KindNotify:
		return seccomp.ActNotify
	case Trace:
		return seccomp.ActTrace
	case Log:
		return seccomp.ActLog
	}
	return seccomp.ActAllow
}

// chain returns f as filters of libseccomp: one that allows and has f's default elsewhere, and one
// for each other verdict. It also returns the calls that libseccomp does not know on that
// architecture.
func chain(t *testing.T, f Filter, a Arch) (progs [][]unix.SockFilter, unknown []string) {
	t.Helper()
	var verdicts []Action
	for _, r := range f.Rules {
		if !slices.Contains(verdicts, r.Do) {
			verdicts = append(verdicts, r.Do)
		}
	}
	// The default is for calls that no rule names. A call that a rule names, whatever the verdict,
	// is allowed by the first filter.
	first := newFilter(t, f.Default, a)
	for nr, name := range arches[a].byNumber {
		if name == "" {
			continue
		}
		call, ok := oracleCall(a, uint32(nr), name)
		if !ok {
			unknown = append(unknown, name)
			continue
		}
		if slices.ContainsFunc(f.Rules, func(r Rule) bool { return len(r.Args) == 0 && slices.Contains(r.Calls, name) }) {
			if f.Default.Kind != Allow {
				must(t, first.AddRule(call, seccomp.ActAllow))
			}
		}
	}
	progs = append(progs, export(t, first))
	for _, do := range verdicts {
		if do.Kind == Allow {
			continue
		}
		s := newFilter(t, Action{Kind: Allow}, a)
		for _, r := range f.Rules {
			if r.Do != do {
				continue
			}
			for _, name := range r.Calls {
				nr, ok := a.Number(name)
				if !ok {
					continue
				}
				call, ok := oracleCall(a, nr, name)
				if !ok {
					continue
				}
				for _, conds := range conditionsOf(r.Args) {
					if len(conds) == 0 {
						must(t, s.AddRule(call, scmpAction(do)))
						continue
					}
					must(t, s.AddRuleConditional(call, scmpAction(do), conds))
				}
			}
		}
		progs = append(progs, export(t, s))
	}
	return progs, unknown
}

// oracleCall returns the call as libseccomp takes it: by its number on the machine on which the
// test runs, which libseccomp translates by name.
func oracleCall(a Arch, nr uint32, name string) (seccomp.ScmpSyscall, bool) {
	if a == Native {
		return seccomp.ScmpSyscall(nr), true
	}
	call, err := seccomp.GetSyscallFromNameByArch(name, scmpArch[a])
	if err != nil || uint32(call) != nr {
		return 0, false
	}
	native, err := seccomp.GetSyscallFromName(name)
	return native, err == nil
}

func newFilter(t *testing.T, def Action, a Arch) *seccomp.ScmpFilter {
	t.Helper()
	s, err := seccomp.NewFilter(scmpAction(def))
	must(t, err)
	native, err := seccomp.GetNativeArch()
	must(t, err)
	if native != scmpArch[a] {
		must(t, s.AddArch(scmpArch[a]))
		must(t, s.RemoveArch(native))
	}
	must(t, s.SetBadArchAction(seccomp.ActKillProcess))
	return s
}

func export(t *testing.T, s *seccomp.ScmpFilter) []unix.SockFilter {
	t.Helper()
	defer s.Release()
	r, w, err := os.Pipe()
	must(t, err)
	read := make(chan []byte)
	go func() {
		b, _ := io.ReadAll(r)
		r.Close()
		read <- b
	}()
	must(t, s.ExportBPF(w))
	w.Close()
	b := <-read
	var p []unix.SockFilter
	for ; len(b) >= 8; b = b[8:] {
		p = append(p, unix.SockFilter{
			Code: binary.NativeEndian.Uint16(b), Jt: b[2], Jf: b[3], K: binary.NativeEndian.Uint32(b[4:]),
		})
	}
	return p
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// conditionsOf returns a rule's conditions in libseccomp's terms: lists of conditions, of which one
// must hold as a whole. libseccomp compares 64 bits, and supports masks only for equality. A
// comparison of the low word therefore becomes blocks of numbers, each a value under a mask.
func conditionsOf(args []Arg) [][]seccomp.ScmpCondition {
	lists := [][]seccomp.ScmpCondition{nil}
	ranges := map[int][][2]uint64{} // by index: the low words that the unmasked conditions leave
	var order []int
	with := func(alternatives []seccomp.ScmpCondition) {
		var next [][]seccomp.ScmpCondition
		for _, l := range lists {
			for _, c := range alternatives {
				next = append(next, append(slices.Clone(l), c))
			}
		}
		lists = next
	}
	for _, g := range args {
		switch {
		case g.Op == MaskedEqual:
			with([]seccomp.ScmpCondition{condition(g.Index, g.Mask, g.Value)})
		case g.Op == AnyBits:
			var any []seccomp.ScmpCondition
			for m := g.Mask; m != 0; m &= m - 1 {
				bit := uint64(1) << bits.TrailingZeros64(m)
				any = append(any, condition(g.Index, bit, bit))
			}
			with(any)
		case g.Wide:
			with([]seccomp.ScmpCondition{{Argument: uint(g.Index), Op: scmpOp[g.Op], Operand1: g.Value}})
		default:
			if _, ok := ranges[g.Index]; !ok {
				ranges[g.Index] = [][2]uint64{{0, 1<<32 - 1}}
				order = append(order, g.Index)
			}
			ranges[g.Index] = intersect(ranges[g.Index], rangesOf(g))
		}
	}
	for _, index := range order {
		var any []seccomp.ScmpCondition
		for _, r := range ranges[index] {
			for lo := r[0]; lo <= r[1]; {
				size := uint64(1)
				for lo&(2*size-1) == 0 && lo+2*size-1 <= r[1] {
					size *= 2
				}
				any = append(any, condition(index, 0xffffffff&^(size-1), lo))
				lo += size
			}
		}
		with(any)
	}
	return lists
}

var scmpOp = map[Op]seccomp.ScmpCompareOp{
	Equal: seccomp.CompareEqual, NotEqual: seccomp.CompareNotEqual, Less: seccomp.CompareLess,
	LessEqual: seccomp.CompareLessOrEqual, Greater: seccomp.CompareGreater, GreaterEqual: seccomp.CompareGreaterEqual,
}

func condition(index int, mask, value uint64) seccomp.ScmpCondition {
	return seccomp.ScmpCondition{Argument: uint(index), Op: seccomp.CompareMaskedEqual, Operand1: mask, Operand2: value}
}

// rangesOf returns the low words for which an unmasked condition holds.
func rangesOf(g Arg) [][2]uint64 {
	const top = 1<<32 - 1
	v := g.Value
	var out [][2]uint64
	add := func(lo, hi uint64) {
		if lo <= hi && hi <= top {
			out = append(out, [2]uint64{lo, hi})
		}
	}
	switch g.Op {
	case Equal:
		add(v, v)
	case NotEqual:
		add(0, v-1)
		add(v+1, top)
	case Less:
		add(0, v-1)
	case LessEqual:
		add(0, v)
	case Greater:
		add(v+1, top)
	case GreaterEqual:
		add(v, top)
	}
	return out
}

func intersect(x, y [][2]uint64) [][2]uint64 {
	var out [][2]uint64
	for _, a := range x {
		for _, b := range y {
			if lo, hi := max(a[0], b[0]), min(a[1], b[1]); lo <= hi {
				out = append(out, [2]uint64{lo, hi})
			}
		}
	}
	return out
}

// strictest returns the kernel's verdict if all these programs are loaded.
func strictest(progs [][]unix.SockFilter, c Call) Action {
	v := Action{Kind: Allow}
	for _, p := range progs {
		if a := Run(p, c); a.stricter(v) {
			v = a
		}
	}
	return v
}
