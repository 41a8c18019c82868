package seccomp

import (
	"errors"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// maxProgram is the length that the kernel accepts (BPF_MAXINSNS).
const maxProgram = 4096

// noSuchCall is the answer by which this kernel looks too old to have a call.
var noSuchCall = Fail(unix.ENOSYS)

// FilterError says why a filter cannot be compiled.
type FilterError struct {
	Filter string // its name
	Rule   int    // the index of the rule, -1 if no rule is at fault
	Call   string // the call concerned, "" for all calls of the rule
	Err    error
}

// Error names filter, rule, call and cause.
func (e *FilterError) Error() string {
	s := "seccomp filter " + e.Filter
	if e.Rule >= 0 {
		s += ": rule " + strconv.Itoa(e.Rule)
	}
	if e.Call != "" {
		s += ": " + e.Call
	}
	return s + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *FilterError) Unwrap() error { return e.Err }

// Program compiles f for one architecture. The program first ends the process if the architecture's
// word differs. Then it finds the call's number by binary search among ranges of numbers with equal
// verdicts; a call whose arguments matter is a range of its own. When a filter is loaded, the
// kernel walks it once for every call, so the depth of that search determines the cost of loading.
//
// An error is a *FilterError: for an action or a condition that makes no sense, a name that no
// Linux architecture has, or more instructions than the kernel accepts (4096).
func Program(f Filter, a Arch) ([]unix.SockFilter, error) {
	spans, err := f.spans(a)
	if err != nil {
		return nil, err
	}
	var p assembler
	kill := p.ret(Action{Kind: KillProcess})
	start := p.load(nrAt, p.tree(spans))
	start = p.branch(opEqual, a.Audit(), start, kill)
	p.load(archAt, start)
	prog := p.program()
	if len(prog) > maxProgram {
		return nil, &FilterError{Filter: f.Name, Rule: -1, Err: errors.New("too long for the kernel, which takes 4096 instructions")}
	}
	return prog, nil
}

// span is a range of numbers with one verdict, up to the first number of the next span.
type span struct {
	first  uint32
	checks []Rule // rules with conditions, in the order in which to try them
	rest   Action // if none of them matches
}

// spans gives every number from 0 to 2^32-1 its verdict, with equal neighbours merged.
func (f Filter) spans(a Arch) ([]span, error) {
	if err := f.check(a); err != nil {
		return nil, err
	}
	byNumber := arches[a].byNumber
	rules := make([][]int, len(byNumber)) // the rules about each call
	for i, r := range f.Rules {
		for _, name := range r.Calls {
			if nr, ok := a.Number(name); ok && !slices.Contains(rules[nr], i) {
				rules[nr] = append(rules[nr], i)
			}
		}
	}
	var spans []span
	add := func(s span) {
		if n := len(spans); n > 0 && len(s.checks) == 0 && len(spans[n-1].checks) == 0 && s.rest == spans[n-1].rest {
			return
		}
		spans = append(spans, s)
	}
	for nr, name := range byNumber {
		if name == "" {
			add(span{first: uint32(nr), rest: f.unknown()})
			continue
		}
		s := f.span(rules[nr])
		s.first = uint32(nr)
		add(s)
	}
	add(span{first: uint32(len(byNumber)), rest: f.unknown()})
	return spans, nil
}

// span returns the verdict on a call to which these rules apply, given in their order.
func (f Filter) span(rules []int) span {
	s := span{rest: f.Default}
	last := -1 // the rule without conditions that decides the rest
	for _, i := range rules {
		if r := f.Rules[i]; len(r.Args) == 0 && (last < 0 || r.Do.stricter(s.rest)) {
			s.rest, last = r.Do, i
		}
	}
	for _, i := range rules {
		r := f.Rules[i]
		switch {
		case len(r.Args) == 0:
		case last >= 0 && !r.Do.stricter(s.rest) && (s.rest.stricter(r.Do) || last < i):
			// The rule without conditions matches whenever this one does.
		default:
			s.checks = append(s.checks, r)
		}
	}
	slices.SortStableFunc(s.checks, func(x, y Rule) int { return int(x.Do.Kind) - int(y.Do.Kind) })
	return s
}

// check returns an error for anything in the filter that makes no sense.
func (f Filter) check(a Arch) error {
	if !a.valid() {
		return &FilterError{Filter: f.Name, Rule: -1, Err: errors.New("no filter can be made for this architecture")}
	}
	if err := f.Default.check(); err != nil {
		return &FilterError{Filter: f.Name, Rule: -1, Err: err}
	}
	for i, r := range f.Rules {
		if err := r.Do.check(); err != nil {
			return &FilterError{Filter: f.Name, Rule: i, Err: err}
		}
		for _, g := range r.Args {
			if err := g.check(); err != nil {
				return &FilterError{Filter: f.Name, Rule: i, Err: err}
			}
		}
		for _, name := range r.Calls {
			if _, ok := a.Number(name); !ok && !known(name) {
				return &FilterError{Filter: f.Name, Rule: i, Call: name, Err: errors.New("no system call has that name")}
			}
		}
	}
	return nil
}

// tree adds a binary search among spans for the loaded number.
func (p *assembler) tree(spans []span) label {
	if len(spans) == 1 {
		return p.verdict(spans[0])
	}
	mid := len(spans) / 2
	above := p.tree(spans[mid:])
	below := p.tree(spans[:mid])
	return p.branch(opGreaterEqual, spans[mid].first, above, below)
}

// verdict adds the span's rules, to be tried one after the other.
func (p *assembler) verdict(s span) label {
	at := p.ret(s.rest)
	for _, r := range slices.Backward(s.checks) {
		yes := p.ret(r.Do)
		for _, g := range slices.Backward(r.Args) {
			yes = p.condition(g, yes, at)
		}
		at = yes
	}
	return at
}

// condition continues with yes if g holds, else with no.
func (p *assembler) condition(g Arg, yes, no label) label {
	lo := uint32(argsAt + 8*g.Index)
	hi := lo + 4
	op := g.Op
	switch op { // the negated comparisons
	case NotEqual:
		op, yes, no = Equal, no, yes
	case Less:
		op, yes, no = GreaterEqual, no, yes
	case LessEqual:
		op, yes, no = Greater, no, yes
	}
	low := p.compare(op, lo, uint32(g.Value), uint32(g.Mask), yes, no)
	if !g.Wide {
		return low
	}
	v, m := uint32(g.Value>>32), uint32(g.Mask>>32)
	switch op {
	case AnyBits:
		return p.compare(op, hi, v, m, yes, low)
	case Equal, MaskedEqual:
		return p.compare(op, hi, v, m, low, no)
	}
	same := p.branch(opEqual, v, low, no) // for "greater" the high words decide unless they are equal
	return p.load(hi, p.branch(opGreater, v, yes, same))
}

// compare loads one word of an argument and compares it. If another condition on the same word
// follows, it finds the word loaded.
func (p *assembler) compare(op Op, at, value, mask uint32, yes, no label) label {
	switch op {
	case MaskedEqual:
		test := p.branch(opEqual, value, yes, no)
		p.reach(test, 0)
		return p.load(at, p.add(unix.SockFilter{Code: opAnd, K: mask}))
	case AnyBits:
		return p.load(at, p.branch(opAnyBits, mask, p.past(yes, at), p.past(no, at)))
	case Greater:
		return p.load(at, p.branch(opGreater, value, p.past(yes, at), p.past(no, at)))
	case GreaterEqual:
		return p.load(at, p.branch(opGreaterEqual, value, p.past(yes, at), p.past(no, at)))
	}
	return p.load(at, p.branch(opEqual, value, p.past(yes, at), p.past(no, at)))
}
