package launch

import (
	"sbx/wrap"
	"strconv"
	"strings"
)

// noSuchCall is the number of a system call that no kernel has: ENOSYS.
const noSuchCall = 0x3fff

// startWith is Start for tests that change the steps to make one fail.
func startWith(p *wrap.Plan, o Options, change func(*Programs)) (*Process, error) {
	// The socket's number is known only once it exists, so the steps are generated twice and
	// changed in the same way each time.
	programs := Steps(p, input(p, o, 3))
	change(&programs)
	pr, err := begin(p.Opening, programs.Opening)
	if err != nil {
		return nil, err
	}
	pr.remounts = remounting{needed: p.Remount, bound: len(p.Caps) == 0}
	programs = Steps(p, input(p, o, pr.childSock))
	change(&programs)
	return pr, pr.load(programs)
}

// spoil makes a step fail with ENOSYS, whatever it was.
func spoil(s *Step) { s.Do, s.Call = DoCall, noSuchCall }

// Steps turns a Plan into its programs. It is pure.
func Steps(p *wrap.Plan, in Input) Programs {
	programs := loaded(p, in)
	if p.Has(wrap.PidNS) {
		programs.Opening = Open(&p.Opening)
	}
	return programs
}

// String formats the step like strace.
func (s Step) String() string {
	var b strings.Builder
	b.WriteString(s.Name)
	if s.Do == DoCall || s.Do == DoEach || s.Do == DoOne {
		b.WriteByte('(')
		last := 5
		for last >= 0 && s.Args[last].Kind == ArgNum && s.Args[last].Num == 0 {
			last--
		}
		for i := 0; i <= last; i++ {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(s.Args[i].String())
		}
		b.WriteByte(')')
	}
	if s.Save != 0 {
		b.WriteString(" = $" + strconv.Itoa(int(s.Save)))
	}
	if s.Expected != 0 {
		b.WriteString(" or " + s.Expected.Error() + ": skip " + strconv.Itoa(int(s.Skip)))
	}
	if s.Tolerant {
		b.WriteString(" or told: skip " + strconv.Itoa(int(s.Skip)))
	}
	if s.On != "" {
		b.WriteString("  # " + strconv.Quote(s.On))
	}
	return b.String()
}

func (a Arg) String() string {
	switch a.Kind {
	case ArgSlot:
		return "$" + strconv.Itoa(int(a.Num))
	case ArgText:
		return strconv.Quote(a.Text)
	case ArgData:
		return "[" + strconv.Itoa(len(a.Text)) + "]byte"
	case ArgVector:
		return "[" + strconv.Itoa(strings.Count(a.Text, "\x00")) + "]string"
	case ArgFilter:
		return "[" + strconv.Itoa(len(a.Text)/8) + "]insn"
	case ArgBuffer:
		return "buf[" + strconv.Itoa(int(a.Num)) + "]"
	}
	if n := int64(a.Num); n < 0 && n > -4096 {
		return strconv.FormatInt(n, 10)
	}
	return "0x" + strconv.FormatUint(uint64(a.Num), 16)
}
