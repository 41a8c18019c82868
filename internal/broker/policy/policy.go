package policy

import (
	"math/bits"
	"slices"
	"strconv"

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

// Used is what the calls that a rule let pass have used.
type Used struct{ Calls, Bytes int64 }

// Policy is rules for one tool, in their order.
type Policy struct {
	tool  string
	rules []compiled
	args  arguments
	index index
}

// compiled is a rule with its conditions.
type compiled struct {
	effect Effect
	number int32 // among all rules
	tests  []test
	*Rule
}

// About tells whether a rule is about a tool.
func (r *Rule) About(tool string) bool { return matches(r.Tool, tool) }

// For is the policy for one tool.
func For(tool string, all []Rule) *Policy {
	p := &Policy{tool: tool}
	var tests [][]test
	for i := range all {
		if !all[i].About(tool) {
			continue
		}
		rule := compiled{all[i].Effect, int32(i), make([]test, len(all[i].When)), &all[i]}
		for j := range rule.tests {
			rule.tests[j] = p.args.compile(&all[i].When[j])
		}
		p.rules, tests = append(p.rules, rule), append(tests, rule.tests)
	}
	p.index = newIndex(tests, len(p.args))
	return p
}

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
	best := Decision{Rule: -1}
	values := make([]value, len(p.args))
	for i := range p.args {
		values[i] = p.args[i].value(arg(p.args[i].name))
	}
	for n, some := range p.index.find(values) {
		for ; some != 0; some &= some - 1 {
			r := &p.rules[n*64+bits.TrailingZeros64(some)]
			if r.effect <= best.Effect || !r.holds(values) {
				continue
			}
			if spent, with := r.spent(used[r.number]); spent != "" {
				no := Decision{Rule: int(r.number), ID: r.ID, Reason: spent, AllowWith: with}
				if best.Effect == None {
					best = no
				}
				if r.Effect == Ask {
					asked = no
				}
				continue
			}
			best = Decision{Effect: r.Effect, Rule: int(r.number), ID: r.ID, Reason: r.Reason}
			if r.Effect == Deny {
				best.AllowWith = "rules: without the rule " + r.ID
				if r.Reason == "" {
					best.Reason = "a rule denies it"
				}
				return best
			}
		}
	}
	if asked.ID != "" && best.Effect <= Allow {
		best = asked
	}
	if best.Effect == None {
		if best.Effect = Deny; best.Rule < 0 {
			best.Reason, best.AllowWith = "no rule allows it", "rules: {tool: "+doc.Quote(p.tool)+", verdict: allow}"
		}
	}
	return best
}

// Could tells whether any call might be let pass: nothing is denied whatever the
// arguments, and a rule that allows is not used up.
func (p *Policy) Could(used []Used) bool {
	return !slices.ContainsFunc(p.rules, func(r compiled) bool { return r.Effect == Deny && len(r.When) == 0 }) &&
		slices.ContainsFunc(p.rules, func(r compiled) bool {
			spent, _ := r.spent(used[r.number])
			return r.Effect != Deny && spent == ""
		})
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

// holds tells whether all conditions hold.
func (r *compiled) holds(values []value) bool {
	for i := range r.tests {
		t := &r.tests[i]
		if v := &values[t.arg]; v.node == nil || !t.holds(v, r.effect >= Ask) {
			return false
		}
	}
	return true
}
