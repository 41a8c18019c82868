package main

import (
	"slices"

	"sbx/internal/reach"
	"sbx/internal/run"
	"sbx/spec"
	"sbx/spec/agent"
	"sbx/wrap"
)

// remark prints, before the start, what the command lacks and what in the spec is probably
// a mistake, so that a person need not search for it later.
func (x *execution) remark() {
	r, a := x.Resolved, x.agent.Agent
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
}

// tellLayer says that sbx learn has no overlay to which the command could write.
func (x *execution) tellLayer() {
	if e := layerLine(x.prepared.Plan.Enforcement); e.Status == wrap.Unavailable && !x.has("q") {
		x.std.say("no copy can be made to write in: " + e.Reason)
		x.std.say("hint: writes outside of the workspace are denied and listed; if a denial ends the command, run it again with the printed spec")
	}
}

// unlearnable refuses a run from which sbx learn would learn nothing.
func (x *execution) unlearnable(p *wrap.Plan) error {
	if e := layerLine(p.Enforcement); e.Status == wrap.Unavailable && !slices.Contains(p.ObservedFiles(), "opens for writing") {
		return &spec.Problem{On: "sbx learn", Do: "see what the command needs", Why: e.Reason + ", and nothing here reports its denials", Help: "run it outside of the sandbox, or on Linux 6.0 or later"}
	}
	return nil
}

// layerLine returns the record's line about the overlay of sbx learn.
func layerLine(lines []wrap.Enforcement) wrap.Enforcement {
	if i := slices.IndexFunc(lines, func(e wrap.Enforcement) bool { return e.Field == wrap.FieldLayer }); i >= 0 {
		return lines[i]
	}
	return wrap.Enforcement{}
}

// tellUnreached says that an agent cannot reach its model, and which line would allow it.
func (x *execution) tellUnreached() {
	r, a := x.Resolved, x.agent.Agent
	if a == 0 || x.has("q") {
		return
	}
	at := x.agentPlace(r.Env, x.home(), r.Start(), agent.ReadArgs(a, x.agent.Args(x.Argv)))
	model := agent.Hosts(a, at)
	text := ""
	switch {
	case r.Network == spec.NetworkNone:
		text = a.String() + " has no network, and so no way to its model: " + run.NetworkRule(r)
	case r.Network == spec.NetworkAllow && !r.AgentNetwork && !reachesAny(r.Reach, model):
		text = a.String() + " has no way to its model, whose hosts network.allow leaves out"
	default:
		return
	}
	if line := x.prepared.Reaching(model); line != "" {
		text += "; " + line + " would give it one"
	}
	x.std.say(text)
}

// reachesAny reports whether rules allow a host of items, which have the form of
// network.allow.
func reachesAny(rules []reach.Rule, items []string) bool {
	return slices.ContainsFunc(items, func(item string) bool {
		needed, err := reach.Expand(item, "")
		return err != nil || reach.AnyOf(rules, needed)
	})
}
