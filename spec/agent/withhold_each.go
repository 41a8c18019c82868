package agent

import (
	"slices"
	"strings"
)

// claudeServers are patterns for what claude gets of MCP servers that the spec
// grants nothing of. A server whose tools are granted in part is told by no
// pattern: what is not granted of it claude asks for, and headless refuses.
func (w *answer) claudeServers() []string {
	ask := w.ask
	if !ask.limitsServers() {
		return nil
	}
	var off []string
	if ask.Servers != nil {
		for _, s := range ask.Servers.All {
			name := claudeServer(s.Name)
			if t := mcp + name; ask.reaches(name).none && !slices.Contains(off, t) && !slices.Contains(ask.Denied, t) {
				off = append(off, t)
			}
		}
	}
	for _, kind := range []string{mcp + "plugin_", mcp + "claude_ai_"} { // of plugins, of the account
		if !slices.ContainsFunc(ask.granted(), func(t string) bool {
			fixed, _, _ := strings.Cut(nameOf(t), "*")
			return isMCP(t) && (strings.HasPrefix(fixed, kind) || strings.HasPrefix(kind, fixed))
		}) {
			off = append(off, kind+"*")
		}
	}
	if len(off) > 0 {
		w.keepServers("no "+strings.Join(off, ", "), "--disallowedTools")
	}
	if ask.Servers != nil && ask.Servers.Unsure != "" {
		w.keepServers("only its own prompt keeps it from MCP servers that are not known", ask.Servers.Unsure)
	}
	return off
}

// claudeGrants are the servers that a granted pattern with a star stands for: of
// servers, claude's --allowedTools takes none.
func (a Ask) claudeGrants() []string {
	var all []string
	if a.Servers == nil {
		return nil
	}
	for _, t := range a.granted() {
		if fixed, _, star := strings.Cut(nameOf(t), "*"); !isMCP(t) || !star || strings.Contains(fixed[len(mcp):], "__") {
			continue
		}
		for _, s := range a.Servers.All {
			name := mcp + claudeServer(s.Name)
			if whole, _, _ := aboutServer(t, name[len(mcp):]); whole && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// claudeServer is a server's name as the names of its tools have it.
func claudeServer(name string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && bareKey(byte(r)) {
			return r
		}
		return '_'
	}, name)
}

// asksForServers tells whether some tools of MCP servers are withheld from claude
// by its asking alone, which a flag can turn off.
func (a Ask) asksForServers() bool {
	if !a.limitsServers() {
		return false
	}
	granted := slices.DeleteFunc(a.granted(), func(t string) bool { return !isMCP(t) })
	if !a.Allowed.Set || len(granted) == 0 {
		return false
	}
	return a.Servers == nil || a.Servers.Unsure != "" || slices.ContainsFunc(granted, func(t string) bool {
		rest := strings.TrimSuffix(nameOf(t)[len(mcp):], "__*")
		return nameOf(t) != t || strings.Contains(rest, "__") || strings.Contains(rest, "*")
	})
}

// geminiServers says of a pattern for MCP servers' tools who keeps it; does is
// what a policy file does with such.
func (w *answer) geminiServers(pattern string, policed bool, does string) {
	switch {
	case !policed:
		w.lack(pattern, "gemini "+does+" by a policy file alone")
	case len(geminiServerNames(pattern)) == 0:
		w.lack(pattern, "gemini's policy has no such pattern of an MCP server's tools")
	case does == "takes it away":
		w.keepServers("no "+pattern, "--policy")
	}
}

// geminiServerNames are the servers and tools that a pattern is about, as a policy
// names them; none where it cannot. Which underscores part them may be told in
// several ways.
func geminiServerNames(pattern string) (all [][2]string) {
	name, rule := split(pattern)
	rest := strings.TrimPrefix(name, mcp)
	if !isMCP(name) || rest == "" || rule != "" && rule != "*" {
		return nil
	}
	if rest == "*" {
		return [][2]string{{"*", "*"}}
	}
	if server, whole := strings.CutSuffix(rest, "__*"); whole && server != "" && !strings.Contains(server, "*") {
		return [][2]string{{server, "*"}}
	}
	if strings.Contains(rest, "*") {
		return nil
	}
	for i := 1; i+2 < len(rest); i++ {
		if strings.HasPrefix(rest[i:], "__") {
			all = append(all, [2]string{rest[:i], rest[i+2:]})
		}
	}
	if all == nil {
		all = [][2]string{{rest, "*"}}
	}
	return all
}

// geminiServerRules are a policy's rules for tools of MCP servers.
func geminiServerRules(patterns []string, decision, priority string) string {
	var b strings.Builder
	for _, t := range patterns {
		for _, n := range geminiServerNames(t) {
			b.WriteString("\n[[rule]]\nmcpName = " + tomlText(n[0]) + "\ntoolName = " + tomlText(n[1]) +
				"\ndecision = \"" + decision + "\"\npriority = " + priority + "\n")
		}
	}
	return b.String()
}

// switchedServers are the servers that settings of codex's command line bring, or
// change in more than whether they are there.
func switchedServers(switches map[string]string) []string {
	var all []string
	for _, key := range keys(switches) {
		parts := strings.Split(key, ".")
		if len(parts) > 3 && parts[0] == "profiles" {
			parts = parts[2:]
		}
		if parts[0] != "mcp_servers" || parts[len(parts)-1] == "enabled" {
			continue
		}
		if len(parts) > 1 {
			all = append(all, parts[1])
			continue
		}
		inline, err := tomlKeys("v=" + switches[key])
		if err != nil {
			all = append(all, switches[key]) // what it names nobody knows
		}
		for _, k := range inline {
			if len(k) > 1 {
				all = append(all, k[1])
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
