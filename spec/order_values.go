package spec

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"sbx/internal/broker/caps"
	"sbx/internal/reach"
)

func accessMode(o *order) {
	if p, c := o.p.AccessMode, o.c.AccessMode; p != AccessUnset && (c == AccessUnset || c > p) {
		o.wider(o.f, orElse(c.String(), "no access_mode"), p.String(), o.p.origin(o.f))
	}
}

func readOnly(o *order) {
	if why := o.p.whyReadOnly(); why != "" && o.p.AccessMode != ReadOnly && !o.c.ReadOnly {
		o.wider(o.f, "what may be written", "what may only be read", why)
	}
}

// atMost rejects a number that is larger than the parent's.
func atMost[T cmp.Ordered](o *order, p, c Opt[T]) {
	if p.Set && (!c.Set || c.Value > p.Value) {
		o.wider(o.f, orElse(o.c.Spec.Text(o.f), "no limit"), o.p.Spec.Text(o.f), o.p.origin(o.f))
	}
}

func (r *Resolved) limits() *Limits { return &r.Spec.Limits.Value }

func pids(o *order) {
	p, c := o.p.limits().PIDs, o.c.limits().PIDs
	atMost(o, p, c)
	if !p.Set && c.Value > MostPIDs {
		o.wider(o.f, strconv.Itoa(c.Value), strconv.Itoa(MostPIDs)+", as each without one", "")
	}
}

func onExceed(o *order) {
	p, c := o.p.Spec, o.c.Spec
	if !p.OnExceed.Set && !p.MaxCommands.Set && !p.MaxTurns.Set {
		return
	}
	// The constants are not declared in order of strictness.
	rank := func(e OnExceed) int { return slices.Index([]OnExceed{Kill, Deny, RecordOnly}, e) }
	if has, asked := p.OnExceed.Or(Deny), c.OnExceed.Or(Deny); rank(asked) > rank(has) {
		o.wider(o.f, asked.String(), has.String(), o.p.origin(o.f))
	}
}

func agent(o *order) {
	if p, c := o.p.Spec.Agent, o.c.Spec.Agent; p.Set && (!c.Set || c.Value != p.Value) {
		o.wider(o.f, orElse(c.Value.String(), "no agent"), p.Value.String(), o.p.origin(o.f))
	}
	if o.p.Agent == 0 && o.c.Agent != 0 && o.p.AccessMode.Guards() {
		o.wider(o.f, "what "+o.c.Agent.String()+" needs of its own opened", "no agent, by the command's name", "")
	}
}

// bestEffort compares best_effort and require_available. A parent that sets no field has no rule
// that could be enforced less.
func bestEffort(o *order) {
	if o.in.Inside || len(o.p.Spec.Asked()) == 0 {
		return // the child cannot weaken the rules of an outer sandbox
	}
	for _, f := range o.c.BestEffort {
		if !o.p.AllowsLess(f) {
			from := o.f
			if o.c.At(from) == "" {
				from = "require_available"
			}
			o.wider(from, string(f)+" by best effort", "it enforced", orElse(o.p.origin(from), o.p.At(o.p.Spec.Asked()[0])))
		}
	}
}

// toolsAllowed compares tools_allowed; tools that the parent denies count as missing from its list.
func toolsAllowed(o *order) {
	p, c := o.p.Spec, o.c.Spec
	has := strings.Join(p.ToolsAllowed.Value, ", ")
	if p.ToolsAllowed.Set && !c.ToolsAllowed.Set {
		o.wider(o.f, "any tool", has, o.p.origin(o.f))
	}
	for i, asked := range c.ToolsAllowed.Value {
		if p.ToolsAllowed.Set && !coveredBy(p.ToolsAllowed.Value, asked) {
			o.item(i, asked, has, o.p.origin(o.f))
		} else if coveredBy(p.ToolsDenied.Value, asked) {
			o.item(i, asked, "it denied", o.p.At("tools_denied"))
		}
	}
}

func toolsDenied(o *order) {
	for _, has := range o.p.Spec.ToolsDenied.Value {
		if !coveredBy(o.c.Spec.ToolsDenied.Value, has) {
			o.wider(o.f, odd(has)+" allowed", "it denied", o.p.origin(o.f))
		}
	}
}

// coveredBy reports whether one of the patterns covers every call that the pattern asked covers.
func coveredBy(patterns []string, asked string) bool {
	a, ok := ParseTool(asked)
	if ok && a.Covers(a) && slices.Contains(patterns, asked) {
		return true
	}
	for _, p := range patterns {
		if t, readable := ParseTool(p); ok && readable && t.Covers(a) {
			return true
		}
	}
	return false
}

func networkMode(o *order) {
	p, c := o.p, o.c
	byAgent := c.AgentNetwork && p.Agent == 0 && p.AccessMode.Guards() // this is reported for the field agent
	if c.Network > p.Network && !byAgent {
		f := o.f
		if c.At(f) == "" && c.At("network.allow") != "" {
			f = "network.allow"
		}
		o.wider(f, "network "+c.Network.String(), p.Network.String(), p.origin("network.mode"))
	}
}

// networkAllow compares the allowed hosts; each host of a set has an error of its own.
func networkAllow(o *order) {
	if o.p.Network != NetworkAllow || o.c.Network != NetworkAllow {
		return
	}
	for _, more := range reach.Wider(o.p.Reach, o.c.Reach) {
		at, set, _ := strings.Cut(more.Cause, ": ")
		asked := odd(more.Text)
		if set != "" {
			asked += " (" + set + ")"
		}
		o.wider(Field(at), asked, orElse(strings.Join(o.p.Spec.Network.Value.Allow.Value, ", "), "none"), o.p.origin(o.f))
	}
}

func networkListen(o *order) {
	if !o.p.Spec.Network.Value.Listen.Set && o.p.Network == NetworkHost {
		return
	}
	for i, port := range o.c.Listen {
		if !slices.ContainsFunc(o.p.Listen, func(has reach.Listen) bool { return has.Covers(port) }) {
			o.item(i, port.String(), "not that port", o.p.origin(o.f))
		}
	}
}

// variables compares the names of the variables that the command gets. Values are not compared: the
// child may choose them.
func variables(o *order) {
	p, c := o.p, o.c
	set := c.Spec.Environment.Value.Set.Value
	for _, name := range c.Passed {
		_, sets := set[name]
		switch {
		case slices.Contains(p.Passed, name):
		case p.withoutProxy(name) && p.passes(name, c.passedValue(name), func(string) bool { return false }):
		case sets && !slices.Contains(p.Dropped, name) && p.passesName(name):
		case sets:
			o.wider("environment.set", name, "it kept from the command", orElse(p.origin(o.f), p.origin("environment.set")))
		default:
			o.wider(o.f, name, "it kept from the command", p.origin(o.f))
		}
	}
}

// passesName reports whether a variable of that name is passed if its value does not look like a
// credential.
func (r *Resolved) passesName(name string) bool {
	return r.passes(name, "", func(string) bool { return false }) && !(r.Limited && isLoaders(name))
}

// brokerFile compares broker.file: the parent chooses the broker, and with it the grants of its
// tools. An outer sandbox has a different broker.
func brokerFile(o *order) {
	if c := &o.c.Broker.File; c.Abs != "" && !o.in.Inside {
		o.sameFile(&o.p.Broker.File, c, "no broker")
	}
}

func brokerPlan(o *order) {
	if p := &o.p.Broker.Plan; p.Abs != "" && o.c.Broker.File.Abs != "" {
		o.sameFile(p, &o.c.Broker.Plan, "no plan")
	}
}

func (o *order) sameFile(p, c *Path, without string) {
	named := func(at *Path) string {
		if at.Abs == "" {
			return without
		}
		return odd(at.Abs)
	}
	if c.Real != p.Real {
		o.wider(o.f, named(c), named(p), o.p.origin(o.f))
	}
}

func brokerGrant(o *order) {
	if o.c.Broker.File.Abs == "" || o.in.Inside {
		return
	}
	for i, g := range o.c.Broker.Grant {
		if !caps.Covered(g, o.p.Broker.Grant) {
			o.item(i, g.String(), strings.Join(o.p.Spec.Broker.Value.Grant.Value, ", "), o.p.origin(o.f))
		}
	}
}
