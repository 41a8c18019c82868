package agent

import (
	"strings"

	"sbx/internal/doc"
	"sbx/spec"
)

// FindServers reads which MCP servers an agent gets from its own configuration. A file that the
// agent may or may not trust counts as trusted.
func FindServers(a spec.Agent, at Place) *Servers {
	var s Servers
	switch a {
	case spec.Codex:
		s.codex(at)
	case spec.Claude:
		s.claude(at)
	}
	for _, name := range at.Typed.Servers {
		s.add(Server{Name: name})
	}
	return &s
}

// claude reads the servers of the machine, of the user, of all the user's projects, and those
// that the project itself has.
func (s *Servers) claude(at Place) {
	paths := []string{"/etc/claude-code/managed-mcp.json"}
	moved := strings.TrimRight(at.Get("CLAUDE_CONFIG_DIR"), "/")
	if moved != "" && !strings.HasPrefix(moved, "/") {
		moved = at.Start + "/" + moved
	}
	if moved != "" {
		paths = append(paths, moved+"/.claude.json")
	} else if at.Home != "" {
		paths = append(paths, strings.TrimRight(at.Home, "/")+"/.claude.json")
	}
	for _, dir := range upwards(at.Start) {
		paths = append(paths, dir+"/.mcp.json")
	}
	for _, path := range paths {
		text, found, err := at.Read(path)
		if !found && err == nil {
			continue
		}
		var root *spec.Node
		if err == nil {
			root, err = doc.ParseJSON(path, text)
		}
		if err != nil {
			s.unsure(path, err.Error())
			continue
		}
		s.claudeServers(root)
		if projects := root.Get("projects"); projects != nil {
			for _, m := range projects.Members {
				s.claudeServers(m.Value)
			}
		}
	}
}

func (s *Servers) claudeServers(doc *spec.Node) {
	if servers := doc.Get("mcpServers"); servers != nil {
		for _, m := range servers.Members {
			s.add(Server{Name: m.Key})
		}
	}
}
