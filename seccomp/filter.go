package seccomp

import (
	"errors"
	"slices"
)

// Filter says how each system call is treated. It is plain data, the same on every machine; Program
// compiles it for the kernel.
type Filter struct {
	Name    string // for messages: "default", or a profile's file name
	Default Action // for calls that no rule matches
	Rules   []Rule // in any order: the strictest one that matches wins
}

// Rule gives one verdict on some calls. It matches a call that is one of Calls if every condition
// of Args holds.
type Rule struct {
	Calls []string // the kernel's names; those that the architecture lacks are ignored
	Args  []Arg    // none: whatever the arguments
	Do    Action
	Why   string // the reason, for people
}

// Arg is a condition on one argument.
type Arg struct {
	Index int // 0 to 5
	Op    Op
	Value uint64
	Mask  uint64 // for MaskedEqual and AnyBits
	// Wide compares all 64 bits. Otherwise only the low 32 count, which is right wherever the
	// kernel takes an int: the high bits that a program passes never reach the call, and must not
	// influence the verdict.
	Wide bool
}

// Op says how an argument is compared. All comparisons are unsigned.
type Op uint8

// These are the comparisons.
const (
	Equal Op = iota + 1
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
	MaskedEqual // arg & Mask == Value
	AnyBits     // arg & Mask != 0
)

// ops has the names of the comparisons in OCI profiles, and others for those that profiles lack.
var ops = [...]string{
	Equal:        "SCMP_CMP_EQ",
	NotEqual:     "SCMP_CMP_NE",
	Less:         "SCMP_CMP_LT",
	LessEqual:    "SCMP_CMP_LE",
	Greater:      "SCMP_CMP_GT",
	GreaterEqual: "SCMP_CMP_GE",
	MaskedEqual:  "SCMP_CMP_MASKED_EQ",
	AnyBits:      "any-bits",
}

func (o Op) valid() bool { return o >= Equal && o <= AnyBits }

// holds reports whether the condition is true of these arguments.
func (g Arg) holds(args [6]uint64) bool {
	v := args[g.Index]
	if !g.Wide {
		v = uint64(uint32(v))
	}
	switch g.Op {
	case Equal:
		return v == g.Value
	case NotEqual:
		return v != g.Value
	case Less:
		return v < g.Value
	case LessEqual:
		return v <= g.Value
	case Greater:
		return v > g.Value
	case GreaterEqual:
		return v >= g.Value
	case MaskedEqual:
		return v&g.Mask == g.Value
	case AnyBits:
		return v&g.Mask != 0
	}
	return false
}

// check returns nil for a condition that can be compiled.
func (g Arg) check() error {
	masked := g.Op == MaskedEqual || g.Op == AnyBits
	switch {
	case g.Index < 0 || g.Index > 5:
		return errors.New("a call has the arguments 0 to 5 only")
	case !g.Op.valid():
		return errors.New("the argument has no comparison")
	case masked != (g.Mask != 0):
		return errors.New("a mask goes with a masked comparison, and the other way about")
	case g.Op == MaskedEqual && g.Value&^g.Mask != 0:
		return errors.New("the value has bits outside of the mask, so it is never equal")
	case g.Op == AnyBits && g.Value != 0:
		return errors.New("any-bits compares with a mask alone")
	case !g.Wide && (g.Value>>32 != 0 || g.Mask>>32 != 0):
		return errors.New("a comparison of 32 bits has a longer value or mask")
	}
	return nil
}

// matches reports whether the rule matches this call.
func (r Rule) matches(name string, args [6]uint64) bool {
	if !slices.Contains(r.Calls, name) {
		return false
	}
	return !slices.ContainsFunc(r.Args, func(g Arg) bool { return !g.holds(args) })
}

// Verdict returns the filter's verdict on a call, and the reason: the Why of the rule that decided,
// or why no rule did. It walks the rules one by one; the result of Program gives the same verdicts,
// faster and without reasons.
func (f Filter) Verdict(c Call) (Action, string) {
	a := archOf(c.Arch)
	if !a.valid() {
		return Action{Kind: KillProcess}, "the call came through another architecture's entry"
	}
	name, ok := a.Name(c.Nr)
	if !ok {
		return f.unknown(), "no call of that number is known"
	}
	var found *Rule
	for i := range f.Rules {
		r := &f.Rules[i]
		if (found == nil || r.Do.stricter(found.Do)) && r.matches(name, c.Args) {
			found = r
		}
	}
	if found == nil {
		return f.Default, "no rule of " + f.Name + " names it"
	}
	return found.Do, found.Why
}

// unknown returns the verdict on numbers that the tables do not have. ENOSYS is what an older
// kernel answers, and makes libc fall back. It also keeps a filter whose default is Allow from
// opening calls that did not exist when its rules were written.
func (f Filter) unknown() Action {
	if f.Default.Kind < Errno {
		return f.Default
	}
	return noSuchCall
}

// archOf returns the architecture with that AUDIT_ARCH word, 0 for none.
func archOf(audit uint32) Arch {
	for a := AMD64; a <= ARM64; a++ {
		if arches[a].audit == audit {
			return a
		}
	}
	return 0
}
