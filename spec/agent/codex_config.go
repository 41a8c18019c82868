package agent

import (
	"slices"
	"strings"
)

// codexHome returns the directory of codex's state; "" if there is no home.
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

// codexModes are the keys of codex's configuration that set its sandbox mode.
var codexModes = []string{"default_permissions", "sandbox_mode"}

// codexProfile returns the settings of the user's configuration of codex, overridden by those of
// the named profile. It takes the sandbox mode only from the profile; the mode is "unread" if
// the profile cannot be read.
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

// codex reads the layers of codex's configuration: those of the machine, of the user, of the
// user's profile, and of the project, which codex uses only if the project is trusted. The
// machine's managed_config.toml overrides flags.
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
	dirs := []string{"/etc/codex"}
	if home != "" {
		own = append(own, home+"/config.toml")
		managed = append(managed, home+"/managed_config.toml")
		dirs = append(dirs, home)
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
		dirs = append(dirs, dir+"/.codex")
		s.codexFile(at, dir+"/.codex/config.toml", false)
	}
	for _, dir := range dirs {
		if s.Roles == "" && at.There(dir+"/agents") {
			s.Roles = dir + "/agents"
		}
	}
}

// codexFile reads one file of codex's configuration; own is true for files that codex always
// trusts.
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
