package agent

import (
	"slices"
	"strings"

	"sbx/spec"
)

// Confined is what a caller has an agent's own sandbox keep the agent's commands
// from, where sbx's stands in its place.
type Confined struct {
	By        string // the arguments that say so; "" for none
	ReadOnly  bool   // the commands write nothing
	NoGit     bool   // or do so but for the project's .git
	NoNetwork bool   // and reach no network, though the agent itself does
}

// ConfinedBy reads that from the caller's arguments to an agent, and from the
// profile of its configuration that they name. What the configuration says by itself
// is a default, in whose place the spec stands.
func ConfinedBy(a spec.Agent, at Place) Confined {
	ad := find(a)
	if ad == nil || !ad.replaced {
		return Confined{}
	}
	set := at.codexProfile()
	by, mode := at.Typed.ModeAt, at.Typed.Mode
	if mode == "" && at.Typed.Bypass == "" {
		for _, key := range codexModes {
			if set[key] != "" {
				mode, by = set[key], "-p "+at.Typed.Profile
			}
		}
		for _, key := range codexModes {
			if typed := at.Typed.Switches[key]; typed != "" {
				mode, by = typed, "-c "+key+"="+typed
			}
		}
	}
	c := Confined{By: by}
	switch strings.TrimPrefix(mode, ":") {
	case "", "danger-full-access":
		return Confined{}
	case "workspace", "workspace-write":
		const open = "sandbox_workspace_write.network_access"
		value, typed := at.Typed.Switches[open]
		c.NoGit, c.NoNetwork = true, value != "true" && (typed || set[open] != "true")
	default: // read-only, or not known
		c.ReadOnly, c.NoNetwork = true, true
	}
	return c
}

// codexModes are the keys of codex's configuration that say what its sandbox is.
var codexModes = []string{"default_permissions", "sandbox_mode"}

// codexProfile is what the user's configuration of codex sets, with the named
// profile over it, whose mode alone counts: one that cannot be read may have any.
func (at *Place) codexProfile() map[string]string {
	all := map[string]string{}
	home := at.codexHome()
	if home == "" {
		return all
	}
	files := []string{home + "/config.toml"}
	if at.Typed.Profile != "" {
		files = append(files, home+"/"+at.Typed.Profile+".config.toml")
	}
	for i, path := range files {
		text, found, err := at.Read(path)
		var values map[string]string
		if err == nil {
			_, values, err = tomlScan(string(text))
		}
		for key, value := range values {
			if i > 0 || !slices.Contains(codexModes, key) {
				all[key] = strings.Trim(value, `"'`)
			}
		}
		if i > 0 && found && err != nil {
			all["sandbox_mode"] = "unread"
		}
	}
	return all
}
