package agent

import (
	"slices"
	"strings"

	"sbx/spec"
)

// spelled is what is asked in Claude's names alone: an agent's own names and
// those with a star in them are what they stand for. No agent's list of what it
// may have takes a star. Of what is denied a star stays for claude, whose
// --disallowedTools takes one, and knows tools that the table has not.
func (a Ask) spelled(ag spec.Agent) (Ask, []Lack) {
	var lacking []Lack
	all := a
	if a.Allowed.Set {
		all.Allowed.Value = []string{}
		for _, t := range a.Allowed.Value {
			if anyTool(t) {
				all.Allowed = spec.Opt[[]string]{}
				break
			}
			means := meanings(ag, t)
			if len(means) == 0 {
				lacking = append(lacking, Lack{Tool: t, Why: "no tool of that form is known", Missing: true})
			}
			all.Allowed.Value = append(all.Allowed.Value, means...)
		}
	}
	all.Denied = nil
	for _, t := range a.Denied {
		if anyTool(t) {
			all.Allowed = spec.Some([]string{})
		}
		if stars := strings.Contains(nameOf(t), "*"); stars && ag == spec.Claude {
			all.Denied = append(all.Denied, t)
		} else if stars && len(meanings(ag, t)) == 0 {
			lacking = append(lacking, Lack{Tool: t, Why: "no tool of that form is known"})
		}
		for _, m := range meanings(ag, t) {
			if !slices.Contains(all.Denied, m) {
				all.Denied = append(all.Denied, m)
			}
		}
	}
	return all, lacking
}

func anyTool(t string) bool { return t == "*" || t == "*(*)" }

func nameOf(t string) string {
	name, _ := split(t)
	return name
}

// meanings are the patterns in Claude's names that one stands for; none for a
// name with a star that no known tool has.
func meanings(ag spec.Agent, pattern string) []string {
	name := nameOf(pattern)
	rule := pattern[len(name):]
	var names []string
	switch {
	case isMCP(name):
		return []string{pattern}
	case strings.Contains(name, "*"):
		names = spec.ToolsNamed(name)
	case ag != spec.Claude:
		names = spec.ClaudeTools(ag, name)
	}
	if len(names) == 0 && !strings.Contains(name, "*") {
		return []string{pattern}
	}
	var all []string
	for _, n := range names {
		all = append(all, n+rule)
	}
	return all
}

// known tells whether the table has a tool, for whichever agents.
func known(name string) bool { return len(spec.ToolsNamed(name)) > 0 }

// deniedQuietly are the tools, but the acting ones, that are denied whole.
func (a Ask) deniedQuietly() []string {
	var all []string
	for _, t := range names(a.Denied) {
		if a.denies(t) && !slices.Contains(acting, t) && !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	return all
}
