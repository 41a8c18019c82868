package agent

import (
	"strings"

	"sbx/spec"
)

// geminiPolicy returns a policy that denies every tool but the allowed ones, or only the denied
// tools if all others are allowed.
func geminiPolicy(ask Ask) string {
	var b geminiRules
	if !ask.Allowed.Set {
		b.tools(ask.Denied, "deny", ask.denies)
		b.servers(ask.Denied, "deny", "960")
		return b.String()
	}
	b.add("deny", "900", `toolName = "*"`)
	b.tools(ask.granted(), "allow", func(t string) bool { return t != "Bash" })
	rules, whole := ask.rules("Bash")
	if prefixes := geminiPrefixes(&answer{}, rules); ask.Mode != spec.PlanOnly && (whole || len(prefixes) > 0) {
		which := "allowRedirection = true" // with prefixes gemini asks before a redirection
		if !whole {
			which = "commandPrefix = " + tomlList(prefixes)
		}
		b.add("allow", "950", `toolName = "run_shell_command"`, which)
	}
	b.servers(ask.granted(), "allow", "950")
	b.servers(ask.Denied, "deny", "960")
	return b.String()
}

// geminiRules is a policy in TOML.
type geminiRules struct{ strings.Builder }

func (b *geminiRules) add(decision, priority string, which ...string) {
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString("[[rule]]\n" + strings.Join(which, "\n") + "\ndecision = \"" + decision + "\"\npriority = " + priority + "\n")
}

// tools adds a rule for gemini's own tools of those patterns that it chooses.
func (b *geminiRules) tools(patterns []string, decision string, chosen func(tool string) bool) {
	var tools []string
	for _, t := range names(patterns) {
		if native, ok := spec.ToolNames(spec.Gemini, t); ok && chosen(t) {
			tools = append(tools, native...)
		}
	}
	if len(tools) > 0 {
		b.add(decision, "950", "toolName = "+tomlList(tools))
	}
}

// servers adds rules for tools of MCP servers.
func (b *geminiRules) servers(patterns []string, decision, priority string) {
	for _, t := range patterns {
		for _, n := range geminiServerNames(t) {
			b.add(decision, priority, "mcpName = "+tomlText(n[0]), "toolName = "+tomlText(n[1]))
		}
	}
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
