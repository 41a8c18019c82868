package main

import (
	"strings"

	"sbx/spec"
	"sbx/spec/agent"
)

// remark says before the start what a person would otherwise look for later: what the
// command lacks, and what in the spec is probably not meant.
func (x *execution) remark() {
	r := x.resolved
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
	if r.Network == spec.NetworkNone || r.Network == spec.NetworkAllow && len(r.Reach) == 0 {
		at := x.agentPlace(r.Env, x.home(), r.Start(), agent.ReadArgs(a, x.agent.Args(x.rest)))
		x.std.say(a.String() + " has no network, and so no way to its model: " + x.networkRule() + "; " + spec.Line("network.allow", agent.Hosts(a, at)) + " in its place would give it one")
	}
}
