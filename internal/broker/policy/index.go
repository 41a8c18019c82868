package policy

import (
	"slices"

	"sbx/internal/doc"
)

// place is a position in the text of an argument.
type place uint8

const (
	lead place = iota
	tail
	within
)

// maxWithin is how many bytes of a key that may stand anywhere are compared.
const maxWithin = 4

// key is a text that an argument must have at a place for a condition to hold.
type key struct {
	arg   int
	place place
	text  string
}

// keys returns what the argument of t must have for t to hold. A key that may stand
// anywhere is the last resort: it is looked up at each byte of a text.
func (t *test) keys() (all []key) {
	if t.comparesList() {
		return nil
	}
	arg, begins := int(t.arg), t.literals.begins
	if len(t.prefix) > len(begins) {
		begins = t.prefix
	}
	if t.compared && !t.equals.isNumber && len(t.equals.node.Text) > len(begins) {
		begins = t.equals.node.Text
	}
	if begins != "" {
		all = append(all, key{arg, lead, begins})
	}
	if t.literals.ends != "" {
		all = append(all, key{arg, tail, t.literals.ends})
	}
	if has := t.literals.longest; all == nil && has != "" {
		all = append(all, key{arg, within, has[:min(len(has), maxWithin)]})
	}
	return all
}

// bounds returns the numbers for which t may hold; ok is false where t is not about
// numbers alone.
func (t *test) bounds() (low, high float64, ok bool) {
	if low, high = t.min, t.max; t.equals.isNumber {
		low, high = t.equals.number, t.equals.number
	}
	return low, high, !t.comparesList() && !t.text && (t.ranged || t.equals.isNumber)
}

// index finds, among many rules, the few that may hold for the arguments of a call.
type index struct {
	rules   int
	bare    []int // the rules that are found by none of the following
	lookups []lookup
	bounds  [][]bound // by argument
}

// lookup finds rules by the text at one place of one argument.
type lookup struct {
	arg     int
	place   place
	by      map[string][]int
	lengths []int // of the keys
	all     []int // the rules in it
}

// newIndex makes the index of rules, each given by its tests: a rule stands under that
// key of its tests which the fewest rules have.
func newIndex(rules [][]test, args int) index {
	x := index{rules: len(rules), bounds: make([][]bound, args)}
	keys, count := make([][]key, len(rules)), map[key]int{}
	for i, tests := range rules {
		for j := range tests {
			keys[i] = append(keys[i], tests[j].keys()...)
		}
		for _, k := range keys[i] {
			count[k]++
		}
	}
	for i, tests := range rules {
		if len(keys[i]) > 0 {
			rarest := slices.MinFunc(keys[i], func(a, b key) int { return count[a] - count[b] })
			x.lookup(rarest).add(rarest.text, i)
		} else if !x.addBound(tests, i) {
			x.bare = append(x.bare, i)
		}
	}
	return x
}

// addBound puts a rule under its first test that is about numbers alone; it returns
// false where there is none.
func (x *index) addBound(tests []test, rule int) bool {
	for j := range tests {
		if low, high, ok := tests[j].bounds(); ok {
			of := &x.bounds[tests[j].arg]
			*of = append(*of, bound{low, high, rule})
			return true
		}
	}
	return false
}

// bound is a rule that holds only for numbers from low to high.
type bound struct {
	low, high float64
	rule      int
}

// between adds to set the rules whose bounds a value is between. For a value that is not
// a number it adds all: one may deny it.
func between(all []bound, v *value, set rules) {
	for i := range all {
		if b := &all[i]; !v.isNumber || b.low <= v.number && v.number <= b.high {
			set.add(b.rule)
		}
	}
}

// lookup returns the one for the argument and the place of k.
func (x *index) lookup(k key) *lookup {
	i := slices.IndexFunc(x.lookups, func(l lookup) bool { return l.arg == k.arg && l.place == k.place })
	if i < 0 {
		i = len(x.lookups)
		x.lookups = append(x.lookups, lookup{arg: k.arg, place: k.place, by: map[string][]int{}})
	}
	return &x.lookups[i]
}

func (x *lookup) add(text string, rule int) {
	x.by[text], x.all = append(x.by[text], rule), append(x.all, rule)
	if !slices.Contains(x.lengths, len(text)) {
		x.lengths = append(x.lengths, len(text))
	}
}

// rules is a set of rules, a bit each.
type rules []uint64

func (s rules) add(list ...int) {
	for _, i := range list {
		s[i/64] |= 1 << (i % 64)
	}
}

// find returns the rules that may hold for the values: all that hold, and some that do
// not.
func (x *index) find(values []value) rules {
	set := make(rules, (x.rules+63)/64)
	set.add(x.bare...)
	for i := range x.lookups {
		x.lookups[i].find(values[x.lookups[i].arg].node, set)
	}
	for arg, all := range x.bounds {
		switch v := &values[arg]; {
		case v.node == nil:
		case v.node.Kind != doc.List:
			between(all, v, set)
		default:
			for i := range v.items {
				between(all, &v.items[i], set)
			}
		}
	}
	return set
}

// find adds to set the rules that a value leads to, and each item of a list.
func (x *lookup) find(n *doc.Node, set rules) {
	switch {
	case n == nil:
	case n.Kind == doc.List:
		for _, item := range n.Items {
			x.one(item, set)
		}
	default:
		x.one(n, set)
	}
}

func (x *lookup) one(n *doc.Node, set rules) {
	if n.Kind != doc.String { // a rule that denies holds for it
		set.add(x.all...)
		return
	}
	for _, length := range x.lengths {
		last := len(n.Text) - length
		switch {
		case last < 0:
		case x.place == lead:
			set.add(x.by[n.Text[:length]]...)
		case x.place == tail:
			set.add(x.by[n.Text[last:]]...)
		default:
			for from := range last + 1 {
				set.add(x.by[n.Text[from:from+length]]...)
			}
		}
	}
}
