package agent

import "strings"

// codexServers switches off servers that codex's own configuration names, or some of their tools.
// Servers of unknown names come from two features only, which it switches off too.
func (w *answer) codexServers() {
	if !w.ask.limitsServers() {
		return
	}
	found := w.ask.Servers
	if found == nil {
		w.lack(mcp+"*", "codex's own configuration, which names MCP servers, was not looked at")
		return
	}
	switch {
	case w.ask.Allowed.Set || w.ask.reaches("\x00").none: // a name that no server has
		w.flag("-c", "features.plugins=false")
		w.keepServers("no plugins, which may bring MCP servers", "features.plugins=false")
	case len(found.Plugins) > 0:
		w.lack(mcp+"*", "codex's plugins ("+strings.Join(found.Plugins, ", ")+") may bring MCP servers of any name")
	}
	if !w.ask.reaches("codex_apps").all {
		w.flag("-c", "features.apps=false")
		w.keepServers("no tools of codex's apps", "features.apps=false")
	}
	if found.Unsure != "" {
		w.lack(mcp+"*", "the MCP servers that codex gets are not known: "+found.Unsure)
	}
	if found.Roles != "" && w.ask.has("Task") {
		w.lack(mcp+"*", "which MCP servers codex's sub-agents get stands in "+found.Roles)
	}
	var odd, plain []string // odd comes first: a setting of the whole table overrides earlier ones
	var off []string
	for _, s := range found.All {
		r := w.ask.reaches(s.Name)
		var sets []string
		switch {
		case r.none:
			sets = append(sets, "enabled=false")
			off = append(off, s.Name)
		case len(r.unsaid) > 0:
			w.lack(r.unsaid[0], "codex takes no pattern of an MCP server's tools")
		case len(r.only) > 0:
			sets = append(sets, "enabled_tools="+tomlList(r.only))
			w.keepServers("of MCP server "+s.Name+" "+strings.Join(r.only, ", ")+" alone", "enabled_tools")
		case len(r.not) > 0:
			sets = append(sets, "disabled_tools="+tomlList(r.not))
			w.keepServers("of MCP server "+s.Name+" not "+strings.Join(r.not, ", "), "disabled_tools")
		}
		if len(sets) > 0 && s.define != "" {
			if !r.none { // define is a stand-in and would replace the real definition
				w.lack(mcp+s.Name, "codex may take it from a project, whose configuration it believes or does not")
				continue
			}
			sets = append(sets, s.define)
		}
		switch {
		case isBare(s.Name):
			for _, set := range sets {
				plain = append(plain, "-c", "mcp_servers."+s.Name+"."+set)
			}
		case len(sets) > 0:
			odd = append(odd, tomlText(s.Name)+"={"+strings.Join(sets, ",")+"}")
		}
	}
	if len(odd) > 0 {
		w.flag("-c", "mcp_servers={"+strings.Join(odd, ",")+"}")
	}
	w.flag(plain...)
	if len(off) > 0 {
		w.keepServers("no MCP servers "+strings.Join(off, ", "), "switched off by -c mcp_servers")
	}
}
