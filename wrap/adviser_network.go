package wrap

import (
	"slices"

	"sbx/internal/reach"
	"sbx/spec"
)

// Reaching returns the smallest line that allows items of network.allow in addition to those that
// can be reached already; "" if no line does.
func (a *Adviser) Reaching(items []string) string { return a.leading(a.connecting(items, true)) }

// leading returns the line of the first edit that really gives its network to the command.
func (a *Adviser) leading(edits []edit) string {
	for _, e := range edits {
		if t := a.try(e, ""); t != nil && t.leads(e.network, a.Host.Parent) {
			return e.line
		}
	}
	return ""
}

// leads reports whether an edited document gives the command the network m.
func (t *attempt) leads(m spec.NetworkMode, outer *Parent) bool {
	if t.plan.Rung == RungParent {
		return outer.Network >= m
	}
	return m == spec.NetworkHost || t.plan.Relay
}

// connecting returns the edits that allow connections to items. A list of hosts allows only TCP,
// and cannot be combined with another mode.
func (a *Adviser) connecting(items []string, byTCP bool) (all []edit) {
	r, now := a.Resolved, &a.Resolved.Spec.Network.Value
	list := slices.Clone(now.Allow.Value)
	if r.AgentNetwork { // a list in a document would replace the hosts that an agent has by default
		for _, rule := range r.Reach {
			list = append(list, rule.Text)
		}
	}
	n := len(list)
	for _, item := range items {
		if _, err := reach.Expand(item, ""); err != nil && byTCP { // no line can have such a name
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
	if r.Network == spec.NetworkHost || byTCP && a.Plan.Relay { // then a longer list is enough
		return all
	}
	next := spec.Network{Mode: spec.Some(spec.NetworkHost)}
	line := "network.mode: host"
	if now.Allow.Set || now.Listen.Set {
		line = spec.NetworkLine(&next)
	}
	return append(all, networking(line, next))
}

// networking returns the edit that sets the network.
func networking(line string, n spec.Network) edit {
	e := edit{line: line, network: spec.NetworkAllow, apply: func(s *spec.SandboxSpec) { s.Network = spec.Some(n) }}
	if n.Mode.Value == spec.NetworkHost {
		e.network = spec.NetworkHost
	}
	return e
}
