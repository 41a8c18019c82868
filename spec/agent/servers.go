package agent

import (
	"slices"
	"strings"
)

// Server is an MCP server that an agent's own configuration names.
type Server struct {
	Name string
	// define is a setting of codex that completes the server's definition in case codex does not
	// trust the file that names the server; "" for a server of the user's own files.
	define string
}

// Servers is what an agent's own configuration says about MCP servers.
type Servers struct {
	All     []Server
	Plugins []string // plugins, which may add servers of unknown names
	// Unsure says what could not be read, "" if nothing. Roles is the path of configuration that
	// may give servers to sub-agents only.
	Unsure, Roles string
}

func (s *Servers) add(one Server) {
	i := slices.IndexFunc(s.All, func(has Server) bool { return has.Name == one.Name })
	switch {
	case i < 0:
		s.All = append(s.All, one)
	case one.define == "":
		s.All[i].define = ""
	}
}

func (s *Servers) unsure(path, why string) {
	if !strings.HasPrefix(why, path+":") { // a reader's error begins with the path
		why = path + ": " + why
	}
	if s.Unsure == "" {
		s.Unsure = why
	}
}
