package agent

import (
	"slices"
	"strings"

	"sbx/spec"
)

// Under returns ask, limited to what the caller's own arguments ask for where sbx's flags would
// replace them.
func (t Typed) Under(a spec.Agent, ask Ask) Ask {
	if a == spec.Gemini && t.Mode == "plan" && (ask.Allowed.Set || len(ask.Denied) > 0 || ask.Mode != 0) {
		ask.Mode = spec.PlanOnly
	}
	ask.Only = t.Only
	return ask
}

// Escalations returns a problem for each of the caller's own arguments that asks for more than
// the spec allows the agent.
func Escalations(a spec.Agent, typed Typed, ask Ask) spec.Problems {
	ad := find(a)
	var all spec.Problems
	refuse := func(f spec.Field, on, why string) {
		all = append(all, &spec.Problem{Field: f, On: on, Do: "give " + a.String() + " " + on, Why: why, Help: "leave the flag out: sbx gives " + a.String() + " what the spec says"})
	}
	tools := spec.Field("tools_allowed")
	if !ask.Allowed.Set && len(ask.Denied) > 0 {
		tools = "tools_denied"
	}
	limited := ask.Allowed.Set || len(ask.Denied) > 0
	patterns := a == spec.Claude && ask.asksForServers() || slices.ContainsFunc(append(slices.Clone(ask.Allowed.Value), ask.Denied...), func(t string) bool { return strings.Contains(t, "(") })
	switch {
	case typed.Bypass == "", ad.replaced && ask.Inside:
	case ad.replaced:
		flags, _, _ := Flags(a, ask)
		if ours := ReadArgs(a, flags).Mode; ours != "" && !slices.Contains(ad.bypassModes, ours) {
			refuse(tools, typed.Bypass, "what the spec says of its tools is kept by its sandbox "+ours)
		}
	case limited && (patterns || !ad.enforcesTools):
		why := "it turns off the checks by which the agent keeps to its tools"
		if a == spec.Claude && ask.Servers != nil && ask.Servers.Unsure != "" {
			why += ", and its MCP servers are not known: " + ask.Servers.Unsure
		}
		refuse(tools, typed.Bypass, why)
	case ask.Access == spec.ReadOnly && !slices.Contains(ad.bypassModes, typed.Mode):
		refuse("access_mode", typed.Bypass, "access_mode is read-only")
	}
	for _, t := range typed.Tools {
		p, ok := spec.ParseTool(t)
		covers := func(has string) bool {
			h, fine := spec.ParseTool(has)
			return fine && ok && h.Covers(p)
		}
		if ask.Allowed.Set && !slices.ContainsFunc(ask.Allowed.Value, covers) || slices.ContainsFunc(ask.Denied, covers) {
			refuse(tools, t, "the spec does not let the agent have that tool")
		}
	}
	for _, s := range typed.Servers {
		if ask.Allowed.Set && !slices.ContainsFunc(ask.Allowed.Value, func(has string) bool {
			h, fine := spec.ParseTool(has)
			return fine && (strings.HasPrefix(h.Name, "mcp__"+s+"__") || h.Names("mcp__"+s+"__x"))
		}) {
			refuse(tools, "the MCP server "+s, "the spec lets the agent have none of its tools")
		}
	}
	if len(typed.Switches) > 0 {
		flags, _, _ := Flags(a, ask)
		own := switches(flags)
		for _, key := range keys(own) {
			for k := key; k != ""; k = k[:max(strings.LastIndexByte(k, '.'), 0)] { // the key and the tables that contain it
				if theirs, set := typed.Switches[k]; set && theirs != own[key] {
					refuse(tools, k+"="+theirs, "the spec makes "+key+" "+own[key])
					break
				}
			}
		}
	}
	if typed.Mode != "" && ask.Access == spec.ReadOnly && slices.Contains(ad.writingModes, typed.Mode) {
		refuse("access_mode", typed.ModeAt, "access_mode is read-only")
	}
	return all
}
