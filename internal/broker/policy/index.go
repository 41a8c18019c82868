package policy

import (
	"slices"
	"strings"

	"sbx/internal/doc"
)

// place is where in the text of an argument something stands.
type place uint8

const (
	lead place = iota
	tail
	within
)

// maxWithin is how much is looked up of what may stand anywhere.
const maxWithin = 4

// key is what a text must have at a place for a condition to hold.
type key struct {
	arg   int
	place place
	text  string
}

// keys are those of a condition on one argument: what stands anywhere counts where nothing
// is known of its ends.
func keys(arg int, leads []string, ends, has string) (all []key) {
	begins := ""
	for _, text := range leads {
		if len(text) > len(begins) {
			begins = text
		}
	}
	if begins != "" {
		all = append(all, key{arg, lead, begins})
	}
	if ends != "" {
		all = append(all, key{arg, tail, ends})
	}
	if all == nil && has != "" {
		all = append(all, key{arg, within, has[:min(len(has), maxWithin)]})
	}
	return all
}

// literals are what each text begins with, ends with and has in it that a glob is about.
func literals(glob string) (begins, ends, has string) {
	parts := strings.FieldsFunc(glob, func(r rune) bool { return r == '*' || r == '?' })
	for _, part := range parts {
		if len(part) > len(has) {
			has = part
		}
	}
	if len(parts) > 0 && strings.HasPrefix(glob, parts[0]) {
		begins = parts[0]
	}
	if len(parts) > 0 && strings.HasSuffix(glob, parts[len(parts)-1]) {
		ends = parts[len(parts)-1]
	}
	return begins, ends, has
}

// index has rules by what must stand at one place of one argument, so that of many rules
// few are looked at.
type index struct {
	arg     int
	place   place
	by      map[string][]int
	lengths []int // of the keys
	all     []int // the rules in it
}

// file puts each rule into one index: by the key of its conditions that fewest rules have.
func (p *Policy) file() {
	p.bounds = make([][]bound, len(p.args))
	rules := map[key]int{}
	for _, r := range p.rules {
		for _, t := range r.tests {
			for _, k := range t.keys {
				rules[k]++
			}
		}
	}
	for i, r := range p.rules {
		var rarest key
		for _, t := range r.tests {
			for _, k := range t.keys {
				if rarest.text == "" || rules[k] < rules[rarest] {
					rarest = k
				}
			}
		}
		bounds := slices.IndexFunc(r.tests, func(t test) bool { return t.bounded })
		switch {
		case rarest.text != "":
			p.at(rarest).add(rarest.text, i)
		case bounds >= 0:
			p.bounds[r.tests[bounds].arg] = append(p.bounds[r.tests[bounds].arg], bound{r.tests[bounds].low, r.tests[bounds].high, i})
		default:
			p.bare = append(p.bare, i)
		}
	}
}

// bound is a rule that holds for no number but those between two.
type bound struct {
	low, high float64
	rule      int
}

// between adds the rules of a value; of one that is no number all, which may deny it.
func between(all []bound, v *value, set rules) {
	for i := range all {
		if b := &all[i]; !v.isNumber || b.low <= v.number && v.number <= b.high {
			set[b.rule/64] |= 1 << (b.rule % 64)
		}
	}
}

func (p *Policy) at(k key) *index {
	i := slices.IndexFunc(p.index, func(x index) bool { return x.arg == k.arg && x.place == k.place })
	if i < 0 {
		i = len(p.index)
		p.index = append(p.index, index{arg: k.arg, place: k.place, by: map[string][]int{}})
	}
	return &p.index[i]
}

func (x *index) add(text string, rule int) {
	x.by[text], x.all = append(x.by[text], rule), append(x.all, rule)
	if !slices.Contains(x.lengths, len(text)) {
		x.lengths = append(x.lengths, len(text))
	}
}

// rules is a set of them, a bit each.
type rules []uint64

func (s rules) add(list []int) {
	for _, i := range list {
		s[i/64] |= 1 << (i % 64)
	}
}

// may are the rules that may hold for the values: all that do, and some that do not.
func (p *Policy) may(values []value) rules {
	set := make(rules, (len(p.rules)+63)/64)
	set.add(p.bare)
	for i := range p.index {
		p.index[i].find(values[p.index[i].arg].node, set)
	}
	for arg, all := range p.bounds {
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

// find adds those of a value: of a list those of each item.
func (x *index) find(n *doc.Node, set rules) {
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

func (x *index) one(n *doc.Node, set rules) {
	if n.Kind != doc.String { // rules that deny may be about it
		set.add(x.all)
		return
	}
	for _, length := range x.lengths {
		last := len(n.Text) - length
		switch {
		case last < 0:
		case x.place == lead:
			set.add(x.by[n.Text[:length]])
		case x.place == tail:
			set.add(x.by[n.Text[last:]])
		default:
			for from := range last + 1 {
				set.add(x.by[n.Text[from:from+length]])
			}
		}
	}
}
