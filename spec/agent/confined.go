package agent

import (
	"strings"

	"sbx/spec"
)

// Confined says what the caller asked the agent's own sandbox to deny the agent's commands. sbx's
// sandbox, which replaces it, has to deny the same.
type Confined struct {
	By        string // the arguments that ask for it; "" for none
	ReadOnly  bool   // the commands may write nothing
	NoGit     bool   // they may not write the project's .git
	NoNetwork bool   // they may not use the network, though the agent itself may
}

// ConfinedBy reads the caller's arguments to an agent, and the profile of its configuration that
// they name. The rest of the configuration does not count: the spec overrides such defaults.
func ConfinedBy(a spec.Agent, at Place) Confined {
	ad := find(a)
	if !ad.replaced {
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
	default: // read-only, or unknown
		c.ReadOnly, c.NoNetwork = true, true
	}
	return c
}
