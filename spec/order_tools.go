package spec

import "strings"

// tools compares the agent's tools. What the parent denies it lacks.
func (o *order) tools() {
	p, c := o.p.Spec, o.c.Spec
	if p.ToolsAllowed.Set && !c.ToolsAllowed.Set {
		o.wider("tools_allowed", "any tool", strings.Join(p.ToolsAllowed.Value, ", "), o.at("tools_allowed"))
	}
	for i, asked := range c.ToolsAllowed.Value {
		if p.ToolsAllowed.Set && !coveredBy(p.ToolsAllowed.Value, asked) {
			o.item("tools_allowed", i, asked, strings.Join(p.ToolsAllowed.Value, ", "), o.at("tools_allowed"))
		} else if coveredBy(p.ToolsDenied.Value, asked) {
			o.item("tools_allowed", i, asked, "it denied", o.p.At("tools_denied"))
		}
	}
	for _, has := range p.ToolsDenied.Value {
		if !coveredBy(c.ToolsDenied.Value, has) {
			o.wider("tools_denied", odd(has)+" allowed", "it denied", o.at("tools_denied"))
		}
	}
}

// coveredBy tells whether one of the patterns covers all that asked does.
func coveredBy(patterns []string, asked string) bool {
	a, ok := ParseTool(asked)
	for _, p := range patterns {
		if t, readable := ParseTool(p); ok && readable && t.Covers(a) {
			return true
		}
	}
	return false
}
