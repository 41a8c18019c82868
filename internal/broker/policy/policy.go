package policy

import (
	"math/bits"
	"slices"
	"strconv"

	"sbx/internal/doc"
)

// Effect is what a rule does with a call; a greater one is stronger.
type Effect uint8

// The effects.
const (
	None Effect = iota
	Allow
	Ask
	Deny
)

var effects = [...]string{"", "allow", "ask", "deny"}

// String returns the effect as rules write it.
func (e Effect) String() string { return effects[e] }

// ParseEffect returns the effect that a word names.
func ParseEffect(word string) (Effect, bool) {
	for e, name := range effects {
		if e > 0 && name == word {
			return Effect(e), true
		}
	}
	return None, false
}

// Rule is one rule of a policy.
type Rule struct {
	ID       string
	Tool     string // a glob
	When     []Condition
	Effect   Effect
	Reason   string
	MaxCalls int64 // the rule allows so many calls; 0 for any number
	MaxBytes int64 // the rule allows calls until their results have so many bytes; 0 for any number
}

// Used is the number of calls that a rule has allowed, and the bytes of their results.
type Used struct{ Calls, Bytes int64 }

// Policy is the rules for one tool, in their order.
type Policy struct {
	tool  string
	rules []compiled
	args  arguments
	index index
}

// compiled is a rule with its conditions compiled.
type compiled struct {
	effect Effect
	number int32 // its index among the rules of all tools
	tests  []test
	*Rule
}

// About reports whether a rule applies to a tool.
func (r *Rule) About(tool string) bool { return matches(r.Tool, tool) }

// For returns the policy for one tool.
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

// Decision is the result of the rules for a call.
type Decision struct {
	Effect    Effect
	Rule      int // the index of the rule that decided; -1 for none
	ID        string
	Reason    string
	AllowWith string
}

// Arg returns an argument of the call by its name; nil if it has none.
type Arg func(name string) *doc.Node

// Decide decides a call. used is indexed by the number of a rule.
func (p *Policy) Decide(arg Arg, used []Used) Decision {
	var asked Decision // by a rule that asks and is used up; a rule that allows does not take its place
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

// Could reports whether any call may be allowed: no rule denies all arguments, and a rule
// that allows is not used up.
func (p *Policy) Could(used []Used) bool {
	return !slices.ContainsFunc(p.rules, func(r compiled) bool { return r.Effect == Deny && len(r.When) == 0 }) &&
		slices.ContainsFunc(p.rules, func(r compiled) bool {
			spent, _ := r.spent(used[r.number])
			return r.Effect != Deny && spent == ""
		})
}

// spent returns why a rule allows no more calls, and the line that would allow more.
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

// holds reports whether all conditions hold.
func (r *compiled) holds(values []value) bool {
	for i := range r.tests {
		t := &r.tests[i]
		if v := &values[t.arg]; v.node == nil || !t.holds(v, r.effect >= Ask) {
			return false
		}
	}
	return true
}
