package main

import (
	"slices"
	"strings"

	"sbx/internal/reach"
	"sbx/internal/run"
	"sbx/spec"
	"sbx/spec/agent"
)

// remark says before the start what a person would otherwise look for later: what the
// command lacks, and what in the spec is probably not meant.
func (x *execution) remark() {
	r := x.Resolved
	if len(r.Dropped) > 0 {
		x.verbose("variables that the command does not get: " + strings.Join(r.Dropped, ", "))
	}
	a := x.agent.Agent
	if a == 0 {
		return
	}
	var warnings []spec.Warning
	for _, list := range [...]struct {
		field spec.Field
		names []string
	}{{"tools_allowed", r.Spec.ToolsAllowed.Value}, {"tools_denied", r.Spec.ToolsDenied.Value}} {
		for _, name := range list.names {
			if meant := spec.ToolMeant(a, name); meant != "" {
				warnings = append(warnings, spec.Warning{Field: list.field, On: r.At(list.field),
					Text: string(list.field) + ": " + a.String() + " has no tool " + spec.Word(name) + " (did you mean " + meant + "?)"})
			}
		}
	}
	x.warnings = append(x.warnings, warnings...)
	if x.has("q") {
		return
	}
	for _, w := range warnings {
		x.std.say("warning: " + spec.Shown(w.String()))
	}
	at := x.agentPlace(r.Env, x.home(), r.Start(), agent.ReadArgs(a, x.agent.Args(x.Argv)))
	model := agent.Hosts(a, at)
	switch {
	case r.Network == spec.NetworkNone:
		x.std.say(a.String() + " has no network, and so no way to its model: " + run.NetworkRule(r) + "; " + spec.Line("network.allow", model) + " in its place would give it one")
	case r.Network == spec.NetworkAllow && !r.AgentNetwork && !reachesAny(r.Reach, model):
		list := append(slices.Clip(r.Spec.Network.Value.Allow.Value), model...)
		x.std.say(a.String() + " has no way to its model, whose hosts network.allow leaves out; " + spec.Line("network.allow", list) + " would give it one")
	}
}

// reachesAny tells whether rules allow a host of items, each of network.allow's.
func reachesAny(rules []reach.Rule, items []string) bool {
	return slices.ContainsFunc(items, func(item string) bool {
		needed, err := reach.Expand(item, "")
		return err != nil || reach.AnyOf(rules, needed)
	})
}
