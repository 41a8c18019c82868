package agent

import (
	"slices"
	"strings"

	"sbx/spec"
)

// need is a path that an agent wants to find, "~" being the home directory.
type need struct {
	path string
	mode spec.OwnMode
	why  string
}

// Needs is what an agent needs of its own: its variables, and those of its paths
// that exist, or are locked and must not come into being. get reads the caller's environment: a variable may have moved the
// agent's state. nil for an agent that nobody knows.
func Needs(a spec.Agent, home string, get func(name string) string, paths spec.Paths) *spec.AgentNeeds {
	ad := find(a)
	if ad == nil {
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

// placeOf is where a need lies for a home directory, and for state that was moved; ""
// where there is no home.
func (ad *adapter) placeOf(n need, home, moved string) string {
	path := n.path
	if rest, ok := strings.CutPrefix(path, ad.state); ok && strings.HasPrefix(moved, "/") && (rest == "" || rest[0] == '/') {
		path = moved + rest
	}
	rest, ok := strings.CutPrefix(path, "~")
	switch {
	case !ok:
		return path
	case home == "":
		return ""
	}
	return home + rest
}

// tools are where agents, and node for them, are installed in a home directory.
var tools = []need{
	{"~/.local/bin", spec.OwnRead, "programs that were installed for this user"},
	{"~/.npm-global", spec.OwnRead, "npm's global packages, as its manual puts them"},
	{"~/.nvm/versions", spec.OwnRead, "node by nvm"},
	{"~/.volta", spec.OwnRead, "node by volta"},
	{"~/.local/share/fnm", spec.OwnRead, "node by fnm"},
	{"~/.bun", spec.OwnRead, "bun and its global packages"},
}
