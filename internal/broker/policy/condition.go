package policy

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"sbx/internal/doc"
)

// argument is one that conditions are about.
type argument struct {
	name string
	deep bool // it is compared with lists or objects
}

// value is what a call has as an argument, read once for all rules.
type value struct {
	node      *doc.Node // nil for none
	number    float64
	isNumber  bool
	canonical string  // of a list or an object that is compared with one
	items     []value // of a list
}

// value reads a value, and the items of a list, which conditions are about one by one.
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

// test is a condition made ready: first what is looked at of each rule.
type test struct {
	arg      int32 // among the policy's
	compared bool  // with a value
	text     bool  // it is about a text
	ranged   bool  // and about a number
	min, max float64
	*words
}

// words are the texts of a condition.
type words struct {
	equals               value
	prefix, glob, within string
	keys                 []key
	low, high            float64 // of the numbers for which it may hold
	bounded              bool
}

// compile makes a condition ready, and notes what it is about.
func (p *Policy) compile(c *Condition) test {
	t := test{compared: c.Equals != nil, text: c.Prefix != "" || c.Glob != "", ranged: c.Min != nil || c.Max != nil,
		min: math.Inf(-1), max: math.Inf(1), words: &words{prefix: c.Prefix, glob: c.Glob}}
	if c.Min != nil {
		t.min = *c.Min
	}
	if c.Max != nil {
		t.max = *c.Max
	}
	arg := slices.IndexFunc(p.args, func(a argument) bool { return a.name == c.Arg })
	if arg < 0 {
		arg, p.args = len(p.args), append(p.args, argument{name: c.Arg})
	}
	t.arg = int32(arg)
	begins, ends, has := literals(c.Glob)
	t.within = has
	equals := ""
	if t.compared {
		t.equals, equals = (&argument{deep: true}).value(c.Equals), c.Equals.Text
		p.args[arg].deep = p.args[arg].deep || t.equals.canonical != ""
	}
	if t.low, t.high = t.min, t.max; t.equals.isNumber {
		t.low, t.high, equals = t.equals.number, t.equals.number, ""
	}
	if !t.compared || c.Equals.Kind != doc.List { // which is compared as a whole, whatever its items are
		t.keys, t.bounded = keys(arg, []string{begins, c.Prefix, equals}, ends, has), !t.text && (t.ranged || t.equals.isNumber)
	}
	return t
}

// holds tells whether a condition holds for a value. Of a list it must hold for each
// item where the rule allows, and for one where it asks or denies: any.
func (t *test) holds(v *value, any bool) bool {
	if v.node.Kind != doc.List || t.compared && t.equals.node.Kind == doc.List {
		return t.one(v, any)
	}
	for i := range v.items {
		if t.one(&v.items[i], any) == any {
			return any
		}
	}
	return !any && len(v.items) > 0
}

// one tells it of one value. A value of a kind that a condition is not about is none that
// a rule allows, and one that a rule asks about or denies: it may become the same text of a
// command line.
func (t *test) one(v *value, deny bool) bool {
	if t.compared && !equal(&t.equals, v) && !(deny && t.equals.node.Kind != v.node.Kind && t.equals.node.Text == v.node.Text) {
		return false
	}
	if t.text {
		if v.node.Kind != doc.String {
			return deny
		}
		if s := v.node.Text; !strings.HasPrefix(s, t.prefix) || t.glob != "" && !(strings.Contains(s, t.within) && matches(t.glob, s)) {
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

// matches tells whether a glob is about all of s: ** is any text, * any without a /,
// ? one character but /. It takes time in proportion to both lengths.
func matches(glob, s string) bool {
	// The place to go back to for the last * and the last **; what stands before a **
	// need never be tried again.
	type mark struct{ glob, s int }
	star, deep := mark{-1, 0}, mark{-1, 0}
	g, i := 0, 0
	for i < len(s) {
		switch {
		case strings.HasPrefix(glob[g:], "**"):
			g += 2
			deep, star = mark{g, i}, mark{-1, 0}
			continue
		case g < len(glob) && glob[g] == '*':
			g++
			star = mark{g, i}
			continue
		case g < len(glob) && (glob[g] == s[i] || glob[g] == '?' && s[i] != '/'):
			g, i = g+1, i+1
			continue
		}
		switch {
		case star.glob >= 0 && s[star.s] != '/':
			star.s++
			g, i = star.glob, star.s
		case deep.glob >= 0:
			deep.s++
			star = mark{-1, 0}
			g, i = deep.glob, deep.s
		default:
			return false
		}
	}
	return strings.Trim(glob[g:], "*") == ""
}
