package agent

import (
	"slices"
	"strings"

	"sbx/spec"
)

// answer gathers the flags of one agent.
type answer struct {
	agent   spec.Agent
	ask     Ask
	args    []string
	kept    []Kept
	lacking []Lack
}

func (w *answer) flag(words ...string) { w.args = append(w.args, words...) }

func (w *answer) keep(by Keeper, line, how string) {
	w.kept = append(w.kept, Kept{Line: line, By: by, How: how})
}

func (w *answer) keepServers(line, how string) {
	w.kept = append(w.kept, Kept{Line: line, By: ByAgent, How: how, Servers: true})
}

func (w *answer) lack(tool, why string) { w.add(Lack{Tool: tool, Why: why}) }

// miss says of a tool that may be used that the agent does not have it.
func (w *answer) miss(tool, why string) { w.add(Lack{Tool: tool, Why: why, Missing: true}) }

func (w *answer) add(l Lack) {
	if !slices.Contains(w.lacking, l) {
		w.lacking = append(w.lacking, l)
	}
}

// split is a tool's name and the rule in its parentheses.
func split(tool string) (name, rule string) {
	name, rest, ok := strings.Cut(tool, "(")
	if !ok {
		return tool, ""
	}
	return name, strings.TrimSuffix(rest, ")")
}

// names are the tools' names, each once, without rules and as the table of
// tools has them.
func names(tools []string) []string {
	var all []string
	for _, t := range tools {
		name, _ := split(t)
		if name, _ = spec.ClaudeTool(spec.Claude, name); !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// denies tells whether a tool is denied whole.
func (a Ask) denies(name string) bool {
	return slices.ContainsFunc(a.Denied, func(t string) bool {
		n, rule := split(t)
		n, _ = spec.ClaudeTool(spec.Claude, n)
		return n == name && rule == ""
	})
}

// has tells whether any use of a tool is allowed.
func (a Ask) has(name string) bool {
	return !a.denies(name) && (!a.Allowed.Set || slices.Contains(names(a.Allowed.Value), name))
}

// granted are the allowed patterns of tools that are not denied whole.
func (a Ask) granted() []string {
	var all []string
	for _, t := range a.Allowed.Value {
		if !a.denies(names([]string{t})[0]) {
			all = append(all, t)
		}
	}
	return all
}

// rules are the patterns that a tool is granted under; whole tells that it is
// granted without any.
func (a Ask) rules(name string) (rules []string, whole bool) {
	if !a.Allowed.Set {
		return nil, a.has(name)
	}
	for _, t := range a.granted() {
		switch n, rule := split(t); {
		case n != name:
		case rule == "" || rule == "*" || rule == ":*":
			whole = true
		default:
			rules = append(rules, rule)
		}
	}
	return rules, whole
}

// deniedRules are patterns among the denied, of tools that may else be used.
func (a Ask) deniedRules() []string {
	var all []string
	for _, t := range a.Denied {
		if name, rule := split(t); rule != "" && a.has(name) {
			all = append(all, t)
		}
	}
	return all
}

// closed tells that the kernel lets all of the project only be read.
func (a Ask) closed() bool { return a.Access == spec.ReadOnly && len(a.Writes) == 0 }

// acting are the tools that write, run or reach: those which an adapter tells
// of by name when they are withheld, or cannot be.
var acting = []string{"Write", "Edit", "NotebookEdit", "Bash", "WebFetch", "WebSearch", "Task"}

// withheld are the acting tools that are not to be had.
func (a Ask) withheld() []string {
	var all []string
	for _, t := range acting {
		if !a.has(t) && (a.Allowed.Set || a.denies(t)) {
			all = append(all, t)
		}
	}
	return all
}

// writing tells whether a tool's only use is to write files.
func writing(name string) bool { return name == "Write" || name == "Edit" || name == "NotebookEdit" }

// keepWithheld says who withholds which tools. The kernel does so too where
// they write and the project is closed to writing.
func (w *answer) keepWithheld(tools []string, how string) {
	var alone, both []string
	for _, t := range tools {
		if writing(t) && w.ask.closed() {
			both = append(both, t)
		} else {
			alone = append(alone, t)
		}
	}
	if len(both) > 0 {
		w.keep(ByBoth, "no "+strings.Join(both, ", "), how+"; the kernel denies the writes, whatever makes them")
	}
	if len(alone) > 0 {
		w.keep(ByAgent, "no "+strings.Join(alone, ", "), how)
	}
}

// unheard are allowed tools that the agent does not have.
func (w *answer) unheard() {
	for _, name := range names(w.ask.granted()) {
		if _, ok := spec.ToolNames(w.agent, name); !ok && !strings.HasPrefix(name, "mcp__") {
			w.miss(name, w.agent.String()+" has no such tool")
		}
	}
}
