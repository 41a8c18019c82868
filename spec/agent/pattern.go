package agent

import (
	"slices"
	"strings"

	"sbx/spec"
)

// split returns a pattern's tool and the rule in its parentheses.
func split(tool string) (name, rule string) {
	name, rest, ok := strings.Cut(tool, "(")
	if !ok {
		return tool, ""
	}
	return name, strings.TrimSuffix(rest, ")")
}

func nameOf(t string) string {
	name, _ := split(t)
	return name
}

// names returns the tools of patterns by their names in the table of tools, without duplicates.
func names(tools []string) []string {
	var all []string
	for _, t := range tools {
		name, _ := split(t)
		if name = spec.ClaudeTool(spec.Claude, name); !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

func isMCP(tool string) bool { return strings.HasPrefix(tool, "mcp__") }

const mcp = "mcp__"

func anyTool(t string) bool { return t == "*" || t == "*(*)" }

// meanings returns the patterns with Claude's names that a pattern of an agent stands for; none
// if its name has a star that matches no known tool.
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

// known reports whether the table of tools has a tool, for any agent.
func known(name string) bool { return len(spec.ToolsNamed(name)) > 0 }

// isForeign reports whether tool is one of an MCP server other than the broker.
func isForeign(tool string) bool { return isMCP(tool) && tool != BrokerTools }

// acting are the tools that write, run or connect. If one is withheld, or cannot be, an adapter
// reports it by name.
var acting = []string{"Write", "Edit", "NotebookEdit", "Bash", "WebFetch", "WebSearch", "Task"}

// writing reports whether a tool does nothing but write files.
func writing(name string) bool { return name == "Write" || name == "Edit" || name == "NotebookEdit" }
