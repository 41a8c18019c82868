package agent

import (
	"slices"
	"strings"

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
	// Its settings, hooks, commands, agents and skills may only be read: it runs
	// without writing there, and keeps what it can.
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

// claudeFlags takes away by --tools, which is the real allow-list of built-in
// tools, by --disallowedTools, which blocks in every mode and in sub-agents, and
// by --strict-mcp-config, which leaves only the servers of the same command
// line. --allowedTools adds grants. The line ends in a flag of one value: those
// of several would take a prompt behind them for one more.
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
		if ask.Only.Set { // of two lists claude has both
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
	default: // nothing comes behind it that would end its list
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
	case len(ask.Folders) == 0:
	case ask.Mode != 0: // which ends the list
		w.flag("--add-dir")
		w.flag(ask.Folders...)
	default:
		for _, f := range ask.Folders {
			w.flag("--add-dir=" + f)
		}
	}
	if ask.Mode != 0 {
		w.flag("--permission-mode", ask.Mode.String())
		w.keep(ByAgent, "permission mode "+ask.Mode.String(), "--permission-mode")
	}
}

func isMCP(tool string) bool { return strings.HasPrefix(tool, "mcp__") }

func list(all []string) string {
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}
