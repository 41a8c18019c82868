package agent

import (
	"strings"

	"sbx/spec"
)

// geminiPolicy returns a policy that denies every tool but the allowed ones, or only the denied
// tools if all others are allowed.
func geminiPolicy(ask Ask) string {
	var b strings.Builder
	if !ask.Allowed.Set {
		var tools []string
		for _, t := range names(ask.Denied) {
			if native, ok := spec.ToolNames(spec.Gemini, t); ok && ask.denies(t) {
				tools = append(tools, native...)
			}
		}
		if len(tools) > 0 {
			b.WriteString("[[rule]]\ntoolName = " + tomlList(tools) + "\ndecision = \"deny\"\npriority = 950\n")
		}
		b.WriteString(geminiServerRules(ask.Denied, "deny", "960"))
		return b.String()
	}
	b.WriteString("[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 900\n")
	var tools []string
	for _, t := range names(ask.granted()) {
		native, _ := spec.ToolNames(spec.Gemini, t)
		if t != "Bash" {
			tools = append(tools, native...)
		}
	}
	if len(tools) > 0 {
		b.WriteString("\n[[rule]]\ntoolName = " + tomlList(tools) + "\ndecision = \"allow\"\npriority = 950\n")
	}
	rules, whole := ask.rules("Bash")
	if prefixes := geminiPrefixes(&answer{}, rules); ask.Mode != spec.PlanOnly && (whole || len(prefixes) > 0) {
		b.WriteString("\n[[rule]]\ntoolName = \"run_shell_command\"\n")
		if whole { // with prefixes gemini asks before a redirection
			b.WriteString("allowRedirection = true\n")
		} else {
			b.WriteString("commandPrefix = " + tomlList(prefixes) + "\n")
		}
		b.WriteString("decision = \"allow\"\npriority = 950\n")
	}
	b.WriteString(geminiServerRules(ask.granted(), "allow", "950"))
	b.WriteString(geminiServerRules(ask.Denied, "deny", "960"))
	return b.String()
}

// geminiServers records who enforces a pattern of MCP servers' tools; does says what a policy
// file does with the pattern.
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

// geminiServerNames returns the pairs of server and tool that a pattern can mean, in the form of
// a policy; none if a policy cannot express it. There are several if more than one pair of
// underscores can separate the server from the tool.
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

// geminiServerRules returns a policy's rules for tools of MCP servers.
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
