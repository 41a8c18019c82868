package wrap

import "sbx/spec"

// ToolNames are the names of the programs that package outer starts.
func ToolNames() []string { return []string{"sbx", "bwrap", "nsjail", "docker", "podman"} }

// Tool is another sandbox's program, as PATH leads to it; Path is "" where it does
// not.
type Tool struct {
	Name, Path string
	Options    []string     // its own, on this host, before the rest
	Drops      []spec.Field // limits that it takes and does not hold here
	Init       string       // the first process of its containers, where it must be told
}

// Tool is the host's program of that name; nil where it has none.
func (h *Host) Tool(name string) *Tool {
	for i := range h.Tools {
		if t := &h.Tools[i]; t.Name == name && t.Path != "" {
			return t
		}
	}
	return nil
}

// Environ is env without the variables that name a hidden socket.
func (h *Host) Environ(env []string) []string { return without(env, h.DropEnv) }

// without is env without the variables of these names.
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
