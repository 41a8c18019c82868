package agent

import (
	"slices"
	"strings"

	"sbx/internal/broker/wire"
	"sbx/internal/doc"
	"sbx/spec"
)

var claude = adapter{
	agent:  spec.Claude,
	flags:  claudeFlags,
	bypass: []string{"--dangerously-skip-permissions"},
	pass:   []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN"},
	models: "@anthropic",
	bases:  []string{"ANTHROPIC_BASE_URL", "ANTHROPIC_BEDROCK_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL"},
	clouds: []cloud{
		{"CLAUDE_CODE_USE_BEDROCK", []string{"AWS_REGION", "AWS_DEFAULT_REGION"}, "us-east-1", []string{"bedrock-runtime.{}.amazonaws.com:443", "bedrock.{}.amazonaws.com:443", "sts.{}.amazonaws.com:443"}},
		{"CLAUDE_CODE_USE_VERTEX", []string{"CLOUD_ML_REGION"}, "us-east5", []string{"{}-aiplatform.googleapis.com:443", "aiplatform.googleapis.com:443", "oauth2.googleapis.com:443"}},
	},
	home:      "CLAUDE_CONFIG_DIR",
	state:     "~/.claude",
	starts:    "about 15",
	npm:       "@anthropic-ai/claude-code",
	installed: []string{"/@anthropic-ai/claude-code/", "/share/claude/versions/"},
	parser:    commander,
	options: []option{
		{names: []string{"--dangerously-skip-permissions", "--allow-dangerously-skip-permissions"}, means: isBypass},
		{names: []string{"--permission-mode"}, means: isMode, value: true},
		{names: []string{"--allowedTools", "--allowed-tools"}, means: isTools, value: true, list: true},
		{names: []string{"--tools"}, means: isTools, is: "only", value: true, list: true},
		{names: []string{"--output-format"}, means: isStream, is: "stream-json", value: true},
		{names: []string{"--settings"}, means: isSettings, value: true},
		{names: []string{"--mcp-config"}, means: isServers, value: true, list: true},
	},
	enforcesTools: true,
	bypassModes:   []string{"bypassPermissions"},
	writingModes:  []string{"acceptEdits", "bypassPermissions", "auto"},
	// Its settings, hooks, commands, agents and skills are read-only: it runs without writing
	// there.
	needs: []need{
		{"~/.claude", spec.OwnRead, "settings, sign-in, skills"},
		{"~/.claude/.credentials.json", spec.OwnWrite, "a sign-in that is renewed while it runs"},
		{"~/.claude/projects", spec.OwnWrite, "transcripts of its sessions"},
		{"~/.claude/todos", spec.OwnWrite, "its plans"},
		{"~/.claude/shell-snapshots", spec.OwnPrivate, "what its shells begin with, in sessions on the host too"},
		{"~/.claude/session-env", spec.OwnPrivate, "scripts that it runs before its commands, in sessions on the host too"},
		{"~/.claude/file-history", spec.OwnWrite, "what files held before its edits"},
		{"~/.claude/backups", spec.OwnWrite, "its own state, kept"},
		{"~/.claude.json", spec.OwnRead, "its state, which it replaces: a copy of its own"},
		{"~/.claude/.claude.json", spec.OwnRead, "the same, where CLAUDE_CONFIG_DIR has moved it"},
		{"~/.local/share/claude", spec.OwnRead, "the program, as its installer puts it"},
	},
}

// claudeFlags withholds tools by --tools, which is the real allow-list of built-in tools, by
// --disallowedTools, which holds in every mode and in sub-agents, and by --strict-mcp-config, which
// leaves only the servers of the same command line. --allowedTools only adds grants. The last
// flag has exactly one value: a flag with several would take the prompt for one more.
func claudeFlags(w *answer, ask Ask) {
	denied := slices.Clone(ask.Denied)
	for _, t := range ask.withheld() {
		if !slices.Contains(denied, t) {
			denied = append(denied, t)
		}
	}
	strict := ask.Allowed.Set && !slices.ContainsFunc(ask.granted(), isForeign)
	w.claudeBroker()
	if ask.Allowed.Set && !strict {
		denied = append(denied, w.claudeServers()...)
	}
	if ask.Allowed.Set {
		tools := names(ask.granted())
		if granted := ask.granted(); len(granted) > 0 {
			w.flag("--allowedTools")
			w.flag(granted...)
			w.flag(ask.claudeGrants()...)
		}
		if ask.Only.Set { // claude would join two lists
			tools = ask.Only.Value
		}
		w.flag("--tools", strings.Join(slices.DeleteFunc(slices.Clone(tools), isMCP), ","))
		w.keep(ByAgent, "tools: "+list(tools)+", and no others", "--tools takes the others away, by name")
	}
	switch {
	case len(denied) == 0:
	case strict || ask.Mode != 0:
		w.flag("--disallowedTools")
		w.flag(denied...)
	default: // no flag follows that would end a list of several words
		w.flag("--disallowedTools=" + strings.Join(denied, ","))
	}
	w.keepWithheld(ask.withheld(), "--tools and --disallowedTools")
	if rules := ask.deniedRules(); len(rules) > 0 {
		w.keep(ByAgent, "not "+strings.Join(rules, ", "), "--disallowedTools; matched against the command's text, and paths hold for its file tools alone")
	}
	if strict {
		w.flag("--strict-mcp-config")
		w.keepServers("no tools of MCP servers", "--strict-mcp-config; a --mcp-config of the caller's adds its own")
	}
	if rules, whole := ask.rules("Bash"); !whole && len(rules) > 0 {
		w.keep(ByAgent, "Bash unasked: "+strings.Join(rules, ", "),
			"--allowedTools; matched against the command's text, and commands that claude takes for harmless run anyway")
	}
	switch {
	case len(ask.Dirs) == 0:
	case ask.Mode != 0: // --permission-mode ends the list
		w.flag("--add-dir")
		w.flag(ask.Dirs...)
	default:
		for _, f := range ask.Dirs {
			w.flag("--add-dir=" + f)
		}
	}
	if ask.Mode != 0 {
		w.flag("--permission-mode", ask.Mode.String())
		w.keep(ByAgent, "permission mode "+ask.Mode.String(), "--permission-mode")
	}
}

// claudeServers returns patterns for the tools of the MCP servers that claude has and of which
// the spec grants nothing. A server with some granted tools gets no pattern: claude asks before
// it uses the others, and without a terminal denies them.
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
	for _, kind := range []string{mcp + "plugin_", mcp + "claude_ai_"} { // servers of plugins and of the account
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

// claudeGrants returns the servers that granted patterns with a star stand for: claude's
// --allowedTools accepts no star in a server's name.
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

// claudeServer returns a server's name as it is written in the names of its tools.
func claudeServer(name string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && bareKey(byte(r)) {
			return r
		}
		return '_'
	}, name)
}

// asksForServers reports whether only claude's asking withholds some tools of MCP servers, which
// a flag can turn off.
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

func (w *answer) claudeBroker() {
	if b := &w.ask.Broker; b.set() {
		kind := "stdio"
		if b.URL != "" {
			kind = "http"
		}
		w.flag("--mcp-config", b.config("url", func(w *doc.Writer) { w.KeyStr("type", kind) }, "${"+wire.TokenVariable+"}"))
		if !w.ask.Allowed.Set {
			w.flag("--allowedTools", BrokerTools)
		}
	}
}
