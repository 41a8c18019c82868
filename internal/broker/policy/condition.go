package policy

import (
	"strconv"
	"strings"

	"sbx/internal/doc"
)

// holds tells whether a condition holds for a value. Of a list it must hold for each
// item where the rule allows, and for one where it asks or denies: any.
func (c *Condition) holds(n *doc.Node, any bool) bool {
	if n.Kind != doc.List || c.Equals != nil && c.Equals.Kind == doc.List {
		return c.one(n, any)
	}
	for _, item := range n.Items {
		if c.one(item, any) == any {
			return any
		}
	}
	return !any && len(n.Items) > 0
}

// lead is what each text begins with for which the condition holds.
func (c *Condition) lead() string {
	lead := c.Prefix
	if end := strings.IndexAny(c.Glob+"*", "*?"); end > len(lead) {
		lead = c.Glob[:end]
	}
	return lead
}

// one tells it of one value. A value of a kind that a condition is not about is none that
// a rule allows, and one that a rule asks about or denies: it may become the same text of a
// command line.
func (c *Condition) one(n *doc.Node, deny bool) bool {
	if c.Equals != nil && !equal(c.Equals, n) && !(deny && c.Equals.Kind != n.Kind && c.Equals.Text == n.Text) {
		return false
	}
	if (c.Prefix != "" || c.Glob != "") && n.Kind != doc.String {
		return deny
	}
	if !strings.HasPrefix(n.Text, c.Prefix) || c.Glob != "" && !matches(c.Glob, n.Text) {
		return false
	}
	if c.Min == nil && c.Max == nil {
		return true
	}
	v, err := strconv.ParseFloat(n.Text, 64)
	if n.Kind != doc.Number || err != nil {
		return deny
	}
	return (c.Min == nil || v >= *c.Min) && (c.Max == nil || v <= *c.Max)
}

func equal(a, b *doc.Node) bool {
	if a.Kind != b.Kind {
		return false
	}
	if a.Kind == doc.String || a.Kind == doc.Bool {
		return a.Text == b.Text
	}
	return string(a.AppendCanonical(nil)) == string(b.AppendCanonical(nil))
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
