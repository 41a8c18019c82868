package agent

import (
	"slices"
	"strings"

	"sbx/internal/doc"
	"sbx/spec"
)

// Server is an MCP server that an agent's own configuration names.
type Server struct {
	Name string
	// define is for codex a setting that makes the server whole where codex
	// does not believe the file that names it; "" for one of the user's own.
	define string
}

// Servers are what an agent's own configuration says of MCP servers.
type Servers struct {
	All     []Server
	Plugins []string // what may bring servers of names that stand nowhere
	// Unsure tells what could not be read, "" where all was; Roles the same of
	// servers that only a sub-agent gets.
	Unsure, Roles string
}

// Place is where an agent's configuration lies.
type Place struct {
	Home  string
	Get   func(name string) string // the agent's environment
	Start string                   // the directory that the agent starts in
	Typed Typed
	Read  func(path string) (text []byte, found bool, err error)
	There func(path string) bool
}

// FindServers reads which servers an agent gets from its own configuration. What
// it may or may not believe counts as believed.
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
	if !strings.HasPrefix(why, path+":") { // as a reader's error does
		why = path + ": " + why
	}
	if s.Unsure == "" {
		s.Unsure = why
	}
}

// codexHome is the directory of codex's state.
func (at *Place) codexHome() string {
	switch moved := strings.TrimRight(at.Get("CODEX_HOME"), "/"); {
	case strings.HasPrefix(moved, "/"):
		return moved
	case moved != "":
		return at.Start + "/" + moved
	case at.Home == "":
		return ""
	}
	return strings.TrimRight(at.Home, "/") + "/.codex"
}

// codex reads what codex puts in layers: the machine's, the user's, a profile of
// the user's, and those of the project, of which it believes a trusted one's alone.
// What the machine's managed_config.toml says goes before flags.
func (s *Servers) codex(at Place) {
	start := at.Start
	if dir := at.Typed.Dir; strings.HasPrefix(dir, "/") {
		start = dir
	} else if dir != "" {
		start += "/" + dir
	}
	home := at.codexHome()
	own := []string{"/etc/codex/config.toml"}
	managed := []string{"/etc/codex/managed_config.toml"}
	folders := []string{"/etc/codex"}
	if home != "" {
		own = append(own, home+"/config.toml")
		managed = append(managed, home+"/managed_config.toml")
		folders = append(folders, home)
		if at.Typed.Profile != "" {
			own = append(own, home+"/"+at.Typed.Profile+".config.toml")
		}
	}
	for _, path := range own {
		s.codexFile(at, path, true)
	}
	for _, path := range managed {
		var first Servers
		if first.codexFile(at, path, true); len(first.All) > 0 {
			s.unsure(path, "codex lets its servers go before flags")
		}
		if first.Unsure != "" {
			s.Unsure = first.Unsure
		}
	}
	for _, dir := range upwards(start) {
		folders = append(folders, dir+"/.codex")
		s.codexFile(at, dir+"/.codex/config.toml", false)
	}
	for _, dir := range folders {
		if s.Roles == "" && at.There(dir+"/agents") {
			s.Roles = dir + "/agents"
		}
	}
}

// codexFile reads one file of codex's configuration.
func (s *Servers) codexFile(at Place, path string, own bool) {
	text, found, err := at.Read(path)
	if !found && err == nil {
		return
	}
	var keys [][]string
	if err == nil {
		keys, err = tomlKeys(string(text))
	}
	if err != nil {
		s.unsure(path, err.Error())
		return
	}
	remote := map[string]bool{}
	for _, k := range keys {
		if i := slices.Index(k, "mcp_servers"); i >= 0 && len(k) == i+3 && k[i+2] == "url" {
			remote[k[i+1]] = true
		}
	}
	for _, k := range keys {
		if len(k) > 2 && k[0] == "profiles" {
			k = k[2:]
		}
		switch {
		case len(k) > 1 && k[0] == "mcp_servers":
			one := Server{Name: k[1]}
			switch {
			case own:
			case remote[k[1]]:
				one.define = `url="http://127.0.0.1:9"`
			default:
				one.define = `command="false"`
			}
			s.add(one)
		case len(k) == 2 && k[0] == "plugins":
			s.Plugins = append(s.Plugins, k[1])
		case len(k) == 3 && k[0] == "agents" && k[2] == "config_file" && s.Roles == "":
			s.Roles = path
		}
	}
}

// upwards are a directory and those above it.
func upwards(dir string) []string {
	dir = strings.TrimRight(dir, "/")
	all := []string{dir}
	for dir != "" {
		dir = dir[:max(strings.LastIndexByte(dir, '/'), 0)]
		all = append(all, dir)
	}
	return all
}

// claude reads the user's servers, those of the user's projects, whichever they
// are, the machine's and the project's own.
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
