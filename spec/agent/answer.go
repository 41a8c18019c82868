package agent

import (
	"slices"
	"strings"

	"sbx/spec"
)

// answer collects the result of Flags.
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

// miss reports a tool that the agent may use but does not have.
func (w *answer) miss(tool, why string) { w.add(Lack{Tool: tool, Why: why, Missing: true}) }

func (w *answer) add(l Lack) {
	if !slices.Contains(w.lacking, l) {
		w.lacking = append(w.lacking, l)
	}
}

// keepWithheld records that the agent withholds tools. If the project is read-only, the kernel
// withholds those that write, too.
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

// missing reports allowed tools that the agent does not have, except those that it replaces by
// another one.
func (w *answer) missing(replaced ...string) {
	for _, name := range names(w.ask.granted()) {
		if _, ok := spec.ToolNames(w.agent, name); !ok && !isMCP(name) && !slices.Contains(replaced, name) {
			w.miss(name, w.agent.String()+" has no such tool")
		}
	}
}

func list(all []string) string {
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}
