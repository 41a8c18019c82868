package wrap

import "sbx/spec"

// ToolNames lists the programs for which package outer writes command lines.
func ToolNames() []string { return []string{"sbx", "bwrap", "nsjail", "docker", "podman"} }

// Tool is another sandboxing program as found in PATH; Path is "" if it is not there.
type Tool struct {
	Name, Path string
	Options    []string     // its own options on this host, before all others
	Drops      []spec.Field // limits that it accepts and does not enforce here
	Init       string       // the first process of its containers, if the command line must name it
}

// Tool returns the host's program of that name; nil for none.
func (h *Host) Tool(name string) *Tool {
	for i := range h.Tools {
		if t := &h.Tools[i]; t.Name == name && t.Path != "" {
			return t
		}
	}
	return nil
}

// Environ returns env without the variables that name a hidden socket.
func (h *Host) Environ(env []string) []string { return without(env, h.DropEnv) }

// without returns env without the variables of these names.
func without(env, drop []string) []string {
	if len(drop) == 0 {
		return env
	}
	var out []string
next:
	for _, kv := range env {
		for _, name := range drop {
			if len(kv) > len(name) && kv[len(name)] == '=' && kv[:len(name)] == name {
				continue next
			}
		}
		out = append(out, kv)
	}
	return out
}
