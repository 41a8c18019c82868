package policy

import (
	"slices"
	"strconv"
	"strings"

	"sbx/internal/doc"
)

// Effect is what a rule does to a call, the strongest last.
type Effect uint8

// The effects.
const (
	None Effect = iota
	Allow
	Ask
	Deny
)

var effects = [...]string{"", "allow", "ask", "deny"}

// String is the effect as rules write it.
func (e Effect) String() string { return effects[e] }

// ParseEffect is the effect that a word names.
func ParseEffect(word string) (Effect, bool) {
	for e, name := range effects {
		if e > 0 && name == word {
			return Effect(e), true
		}
	}
	return None, false
}

// Rule is one line of the policy.
type Rule struct {
	ID       string
	Tool     string // a glob
	When     []Condition
	Effect   Effect
	Reason   string
	MaxCalls int64 // of an allow or an ask; 0 for any number
	MaxBytes int64 // of results, before the last that is allowed
}

// Condition is about one argument.
type Condition struct {
	Arg    string
	Equals *doc.Node
	Prefix string // "" for none
	Glob   string // "" for none: * is any number of characters but /, ** of all, ? one but /
	Min    *float64
	Max    *float64
}

// Used is what the calls that a rule let pass have used.
type Used struct{ Calls, Bytes int64 }

// Policy is rules for one tool, in their order.
type Policy struct {
	tool  string
	rules []Rule
	index []int    // of each among all rules
	args  []string // that conditions are about
	quick []quick  // of each rule
	tests []test   // of each condition of each rule, in their order
}

// quick is what most rules are passed over by: rules are large, and many.
type quick struct {
	effect Effect
	tests  int
}

// test is a condition, and what a text begins with for which it holds.
type test struct {
	arg  int
	lead string
	of   *Condition
}

// For is the policy for one tool.
func For(tool string, all []Rule) *Policy {
	p := &Policy{tool: tool}
	for i := range all {
		if !matches(all[i].Tool, tool) {
			continue
		}
		p.rules, p.index = append(p.rules, all[i]), append(p.index, i)
		p.quick = append(p.quick, quick{all[i].Effect, len(all[i].When)})
		for j := range all[i].When {
			c := &all[i].When[j]
			arg := slices.Index(p.args, c.Arg)
			if arg < 0 {
				arg, p.args = len(p.args), append(p.args, c.Arg)
			}
			p.tests = append(p.tests, test{arg, c.lead(), c})
		}
	}
	return p
}

// Empty tells whether no rule is about the tool.
func (p *Policy) Empty() bool { return len(p.rules) == 0 }

// Decision is what the rules say of a call.
type Decision struct {
	Effect    Effect
	Rule      int // the index of what decided; -1 for none
	ID        string
	Reason    string
	AllowWith string
}

// Arg gives an argument of the call; nil where it has none of that name.
type Arg func(name string) *doc.Node

// Decide decides a call. used is by the index of all rules.
func (p *Policy) Decide(arg Arg, used []Used) Decision {
	var asked Decision // by a rule that asks, and is used up: no weaker one takes its place
	best := Decision{Rule: -1, Reason: "no rule allows it",
		AllowWith: "rules: {tool: " + doc.Quote(p.tool) + ", verdict: allow}"}
	values := make([]*doc.Node, len(p.args))
	for i, name := range p.args {
		values[i] = arg(name)
	}
	tests := p.tests
	for i, q := range p.quick {
		mine := tests[:q.tests]
		tests = tests[q.tests:]
		if q.effect <= best.Effect || !hold(mine, values, q.effect >= Ask) {
			continue
		}
		r := &p.rules[i]
		if spent, with := r.spent(used[p.index[i]]); spent != "" {
			no := Decision{Rule: p.index[i], ID: r.ID, Reason: spent, AllowWith: with}
			if best.Effect == None {
				best = no
			}
			if r.Effect == Ask {
				asked = no
			}
			continue
		}
		best = Decision{Effect: r.Effect, Rule: p.index[i], ID: r.ID, Reason: r.Reason}
		if r.Effect == Deny {
			best.AllowWith = "rules: without the rule " + r.ID
			if r.Reason == "" {
				best.Reason = "a rule denies it"
			}
			return best
		}
	}
	if asked.ID != "" && best.Effect <= Allow {
		best = asked
	}
	if best.Effect == None {
		best.Effect = Deny
	}
	return best
}

// Could tells whether any call might be let pass: nothing is denied whatever the
// arguments, and a rule that allows is not used up.
func (p *Policy) Could(used []Used) bool {
	could := false
	for i := range p.rules {
		r := &p.rules[i]
		if r.Effect == Deny {
			if len(r.When) == 0 {
				return false
			}
			continue
		}
		spent, _ := r.spent(used[p.index[i]])
		could = could || spent == ""
	}
	return could
}

// spent tells why a rule lets no more calls pass, and what would.
func (r *Rule) spent(u Used) (why, with string) {
	switch {
	case r.Effect == Deny:
	case r.MaxCalls > 0 && u.Calls >= r.MaxCalls:
		return "the rule allows " + strconv.FormatInt(r.MaxCalls, 10) + " calls", "max_calls: " + strconv.FormatInt(u.Calls+1, 10)
	case r.MaxBytes > 0 && u.Bytes >= r.MaxBytes:
		return "the rule allows " + strconv.FormatInt(r.MaxBytes, 10) + " bytes of results", "max_bytes: " + strconv.FormatInt(u.Bytes+1, 10)
	}
	return "", ""
}

// hold tells whether all conditions hold.
func hold(tests []test, values []*doc.Node, any bool) bool {
	for i := range tests {
		t := &tests[i]
		n := values[t.arg]
		if n == nil || n.Kind == doc.String && !strings.HasPrefix(n.Text, t.lead) || !t.of.holds(n, any) {
			return false
		}
	}
	return true
}
