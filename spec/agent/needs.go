package agent

import (
	"slices"
	"strings"

	"sbx/spec"
)

// Needs returns what an agent needs to run: its variables, and those of its paths that exist or
// are locked (and so must not be created). get reads the caller's environment, in which a
// variable may have moved the agent's state. Needs returns nil for an unknown agent.
func Needs(a spec.Agent, home string, get func(name string) string, paths spec.Paths) *spec.AgentNeeds {
	ad := find(a)
	if ad.agent == 0 {
		return nil
	}
	needs := &spec.AgentNeeds{Agent: a, Pass: slices.Clone(ad.pass)}
	moved := strings.TrimRight(get(ad.home), "/")
	add := func(path string, mode spec.OwnMode) {
		if path == "" {
			return
		}
		if _, err := spec.Real(path, paths); err == nil || mode == spec.OwnLocked {
			needs.Files = append(needs.Files, spec.OwnFile{Path: path, Mode: mode})
		}
	}
	for _, n := range ad.needs {
		add(ad.placeOf(n, home, moved), n.mode)
	}
	for _, n := range tools {
		add(ad.placeOf(n, home, ""), n.mode)
	}
	return needs
}

// tools are the places in a home directory where agents, and the node that runs them, are
// installed.
var tools = []need{
	{"~/.local/bin", spec.OwnRead, "programs that were installed for this user"},
	{"~/.npm-global", spec.OwnRead, "npm's global packages, as its manual puts them"},
	{"~/.nvm/versions", spec.OwnRead, "node by nvm"},
	{"~/.volta", spec.OwnRead, "node by volta"},
	{"~/.local/share/fnm", spec.OwnRead, "node by fnm"},
	{"~/.bun", spec.OwnRead, "bun and its global packages"},
}
