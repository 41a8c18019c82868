package wrap

import (
	"slices"

	"sbx/internal/reach"
	"sbx/spec"
)

// Reaching is the smallest line that lets items of network.allow be reached beside what
// can be; "" where no line does.
func (a *Adviser) Reaching(items []string) string { return a.leading(a.connecting(items, true)) }

// leading is the first of the edits with which the network leads where it is to.
func (a *Adviser) leading(edits []edit) string {
	for _, e := range edits {
		if t := a.try(e, ""); t != nil && t.leads(e.network, a.Host.Parent) {
			return e.line
		}
	}
	return ""
}

// leads reports whether an edited document has the network that the edit is for.
func (t *attempt) leads(m spec.NetworkMode, outer *Parent) bool {
	if t.plan.Rung == RungParent {
		return outer.Network >= m
	}
	return m == spec.NetworkHost || t.plan.Relay
}

// connecting are the edits that let items be connected to. A list has TCP alone, and
// stands beside no other mode.
func (a *Adviser) connecting(items []string, byTCP bool) (all []edit) {
	r, now := a.Resolved, &a.Resolved.Spec.Network.Value
	list := slices.Clone(now.Allow.Value)
	if r.AgentNetwork { // what an agent has by itself, a list would take away
		for _, rule := range r.Reach {
			list = append(list, rule.Text)
		}
	}
	n := len(list)
	for _, item := range items {
		if _, err := reach.Expand(item, ""); err != nil && byTCP { // a name that no line can have
			return nil
		}
		if !slices.Contains(list, item) {
			list = append(list, item)
		}
	}
	if byTCP && len(list) > n {
		next := spec.Network{Allow: spec.Some(list), Listen: now.Listen}
		line := spec.Line("network.allow", list)
		if now.Mode.Set && now.Mode.Value != spec.NetworkAllow {
			line = spec.NetworkLine(&next)
		} else {
			next.Mode = now.Mode
		}
		all = append(all, networking(line, next))
	}
	if r.Network == spec.NetworkHost || byTCP && a.Plan.Relay { // a longer list does
		return all
	}
	next := spec.Network{Mode: spec.Some(spec.NetworkHost)}
	line := "network.mode: host"
	if now.Allow.Set || now.Listen.Set {
		line = spec.NetworkLine(&next)
	}
	return append(all, networking(line, next))
}

// networking is the edit of the network.
func networking(line string, n spec.Network) edit {
	e := edit{line: line, network: spec.NetworkAllow, apply: func(s *spec.SandboxSpec) { s.Network = spec.Some(n) }}
	if n.Mode.Value == spec.NetworkHost {
		e.network = spec.NetworkHost
	}
	return e
}
