package policy

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"sbx/internal/doc"
)

// Condition is about one argument. All that it sets must hold.
type Condition struct {
	Arg    string
	Equals *doc.Node
	Prefix string // "" for none
	Glob   string // "" for none; * matches any number of characters except /, ** of any characters, ? one except /
	Min    *float64
	Max    *float64
}

// argument is an argument that conditions are about.
type argument struct {
	name string
	deep bool // a condition compares it with a list or an object
}

// value is an argument of a call, parsed once for all rules.
type value struct {
	node      *doc.Node // nil if the call does not have it
	number    float64
	isNumber  bool
	canonical string  // set for a list or an object if a condition compares the argument with one
	items     []value // the items of a list
}

// value parses an argument, and the items of a list: conditions are tested for each item.
func (a *argument) value(n *doc.Node) value {
	v := a.one(n)
	if n != nil && n.Kind == doc.List {
		v.items = make([]value, len(n.Items))
		for i, item := range n.Items {
			v.items[i] = a.one(item)
		}
	}
	return v
}

func (a *argument) one(n *doc.Node) value {
	v := value{node: n}
	if n != nil && n.Kind == doc.Number {
		f, err := strconv.ParseFloat(n.Text, 64)
		v.number, v.isNumber = f, err == nil
	} else if n != nil && a.deep && (n.Kind == doc.List || n.Kind == doc.Object) {
		v.canonical = string(n.AppendCanonical(nil))
	}
	return v
}

// test is a compiled condition. The fields that are read for every rule come first.
type test struct {
	arg      int32 // the index among the policy's arguments
	compared bool  // it compares with a value
	text     bool  // it requires a text
	ranged   bool  // it requires a number
	min, max float64
	*words
}

// words are the texts of a condition.
type words struct {
	equals       value
	prefix, glob string
	literals     literals // of the glob
}

// arguments are those that the conditions of a policy are about.
type arguments []argument

// compile prepares a condition, and adds its argument to args.
func (args *arguments) compile(c *Condition) test {
	t := test{compared: c.Equals != nil, text: c.Prefix != "" || c.Glob != "", ranged: c.Min != nil || c.Max != nil,
		min: math.Inf(-1), max: math.Inf(1), words: &words{prefix: c.Prefix, glob: c.Glob, literals: literalsOf(c.Glob)}}
	if c.Min != nil {
		t.min = *c.Min
	}
	if c.Max != nil {
		t.max = *c.Max
	}
	arg := slices.IndexFunc(*args, func(a argument) bool { return a.name == c.Arg })
	if arg < 0 {
		arg, *args = len(*args), append(*args, argument{name: c.Arg})
	}
	t.arg = int32(arg)
	if t.compared {
		t.equals = (&argument{deep: true}).value(c.Equals)
		a := &(*args)[arg]
		a.deep = a.deep || t.equals.canonical != ""
	}
	return t
}

// comparesList reports whether t compares an argument with a list as a whole; its items do
// not matter then.
func (t *test) comparesList() bool { return t.compared && t.equals.node.Kind == doc.List }

// holds reports whether a condition holds for a value. For a list it must hold for every
// item if the rule allows, and for any one if the rule asks or denies (any).
func (t *test) holds(v *value, any bool) bool {
	if v.node.Kind != doc.List || t.comparesList() {
		return t.one(v, any)
	}
	for i := range v.items {
		if t.one(&v.items[i], any) == any {
			return any
		}
	}
	return !any && len(v.items) > 0
}

// one tests one value. A value of another kind than the condition requires never matches a
// rule that allows, but always one that asks or denies: it may become the same text on a
// command line.
func (t *test) one(v *value, deny bool) bool {
	if t.compared && !equal(&t.equals, v) && !(deny && t.equals.node.Kind != v.node.Kind && t.equals.node.Text == v.node.Text) {
		return false
	}
	if t.text {
		if v.node.Kind != doc.String {
			return deny
		}
		if s := v.node.Text; !strings.HasPrefix(s, t.prefix) || t.glob != "" && !(strings.Contains(s, t.literals.longest) && matches(t.glob, s)) {
			return false
		}
	}
	if t.ranged {
		if !v.isNumber {
			return deny
		}
		return v.number >= t.min && v.number <= t.max
	}
	return true
}

func equal(a, b *value) bool {
	switch {
	case a.node.Kind != b.node.Kind:
		return false
	case a.isNumber && b.isNumber:
		return a.number == b.number
	}
	return a.node.Text == b.node.Text && a.canonical == b.canonical
}
