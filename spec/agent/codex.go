package agent

import (
	"slices"
	"strings"

	"sbx/internal/broker/wire"
	"sbx/spec"
)

var codex = adapter{
	agent:     spec.Codex,
	flags:     codexFlags,
	bypass:    []string{"--dangerously-bypass-approvals-and-sandbox"},
	pass:      []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY"},
	models:    "@openai",
	bases:     []string{"OPENAI_BASE_URL"},
	home:      "CODEX_HOME",
	state:     "~/.codex",
	starts:    "40 to 75",
	aside:     []string{"git-remote-http", "git-remote-https"}, // fetch its list of plugins
	npm:       "@openai/codex",
	installed: []string{"/@openai/codex/", "/@openai/codex-"},
	parser:    clap,
	options: []option{
		{names: []string{"--dangerously-bypass-approvals-and-sandbox", "--yolo"}, means: isBypass},
		{names: []string{"-s", "--sandbox"}, means: isMode, value: true},
		{names: []string{"--full-auto", "--approve-for-me"}, means: isMode, is: "workspace-write"},
		{names: []string{"--json", "--experimental-json"}, means: isStream},
		{names: []string{"-c", "--config"}, means: isConfig, value: true},
		{names: []string{"--enable"}, means: isFeature, is: "true", value: true},
		{names: []string{"--disable"}, means: isFeature, is: "false", value: true},
		{names: []string{"-C", "--cd"}, means: isStart, value: true},
		{names: []string{"-p", "--profile"}, means: isProfile, value: true},
	},
	replaced:     true,
	bypassModes:  []string{"danger-full-access"},
	writingModes: []string{"workspace-write"},
	streams:      func(args []string) bool { return slices.Contains(args, "exec") || slices.Contains(args, "e") },
	// It exits at once if it cannot write its state.
	needs: []need{
		{"~/.codex", spec.OwnWrite, "its databases, sessions and sign-in"},
		{"~/.codex/tmp", spec.OwnPrivate, "programs that its commands find first, of each session"},
		{"~/.codex/shell_snapshots", spec.OwnPrivate, "what its shells begin with, in sessions on the host too"},
		{"~/.codex/.tmp", spec.OwnLocked, "sources of its plugins"},
		{"~/.codex/config.toml", spec.OwnLocked, "names MCP servers and programs to notify"},
		{"~/.codex/*.config.toml", spec.OwnLocked, "the same, for each of its profiles"},
		{"~/.codex/hooks.json", spec.OwnLocked, "programs that it runs"},
		{"~/.codex/.env", spec.OwnLocked, "variables of all that it starts"},
		{"~/.codex/environments.toml", spec.OwnLocked, "names programs that it starts"},
		{"~/.codex/plugins", spec.OwnLocked, "bring MCP servers, hooks and skills"},
		{"~/.codex/packages", spec.OwnLocked, "the program, as its installer puts it"},
		{"~/.codex/agents", spec.OwnLocked, "configuration of its sub-agents, with MCP servers"},
		{"~/.codex/AGENTS.md", spec.OwnLocked, "its instructions in every project"},
		{"~/.codex/AGENTS.override.md", spec.OwnLocked, "the same, before AGENTS.md"},
		{"~/.codex/prompts", spec.OwnLocked, "its instructions by name"},
		{"~/.codex/skills", spec.OwnLocked, "what it runs by name"},
		{"~/.codex/rules", spec.OwnLocked, "which commands it runs without asking"},
	},
}

// codexFlags withholds tools by codex's own sandbox (-s), which holds for its commands and its
// patches, and by switching features off. codex has no list of tools: it reads by its shell, and
// has no switch for patches.
func codexFlags(w *answer, ask Ask) {
	mode := codexSandbox(ask)
	if mode != "" {
		w.flag("-s", mode)
	}
	withheld := ask.withheld()
	var gone, writes []string
	for _, t := range withheld {
		switch t {
		case "Bash":
			w.flag("-c", "features.shell_tool=false")
			gone = append(gone, t)
		case "Task":
			w.flag("-c", "agents.enabled=false")
			gone = append(gone, t)
		case "WebSearch":
			w.flag("-c", `web_search="disabled"`)
			gone = append(gone, t)
		case "Write", "Edit":
			writes = append(writes, t)
		}
	}
	w.keepWithheld(gone, "switched off by -c")
	codexWrites(w, mode, writes)
	if !ask.has("Bash") {
		for _, t := range []string{"Read", "Grep", "Glob"} {
			if ask.Allowed.Set && ask.has(t) {
				w.miss(t, "codex reads by its shell, which is off")
			}
		}
	} else if rules, whole := ask.rules("Bash"); !whole && len(rules) > 0 {
		w.lack("Bash", "codex's command line has no patterns of commands ("+strings.Join(rules, ", ")+"): its shell runs any")
	}
	for _, t := range ask.deniedRules() {
		w.lack(t, "codex's command line has no patterns")
	}
	w.codexServers()
	w.codexBroker()
	for _, t := range ask.deniedQuietly() {
		if isMCP(t) {
			continue
		}
		_, there := spec.ToolNames(spec.Codex, t)
		switch {
		case ask.has("Bash") && (t == "Read" || t == "Grep" || t == "Glob" || t == "LS"):
			w.lack(t, "codex reads by its shell")
		case there || !known(t):
			w.lack(t, "codex has no switch for it")
		}
	}
	w.missing("Read", "Grep", "Glob") // it reads and searches by its shell
	if mode == "workspace-write" {
		for _, f := range ask.Dirs {
			w.flag("--add-dir", f)
		}
	}
}

// codexSandbox returns codex's own sandbox mode; "" for its default.
func codexSandbox(ask Ask) string {
	switch {
	case ask.Inside: // its sandbox cannot start in another one, and every command would fail
		return "danger-full-access"
	case ask.Mode == spec.PlanOnly, ask.closed():
		return "read-only"
	case ask.Access == spec.DangerFullAccess:
		return "danger-full-access"
	case ask.Access != spec.AccessUnset: // it has no mode that writes some documents only
		return "workspace-write"
	}
	return ""
}

// codexWrites records who withholds the tools that write.
func codexWrites(w *answer, mode string, withheld []string) {
	closed := w.ask.closed()
	switch {
	case mode == "read-only" && closed:
		w.keep(ByBoth, "writes nothing in the project", "-s read-only, for patches and commands; the kernel")
	case mode == "read-only":
		w.keep(ByAgent, "writes nothing", "-s read-only, for patches and commands")
	case mode == "workspace-write":
		w.keep(ByAgent, "writes the project alone", "-s workspace-write, for patches and commands")
	case mode == "danger-full-access" && closed && w.ask.Inside:
		w.keep(ByKernel, "writes nothing in the project", "codex's own sandbox is off under sbx, where it cannot start")
		return
	}
	if len(withheld) > 0 && mode != "read-only" && !closed {
		for _, t := range withheld {
			w.lack(t, "codex has no switch for patches, and what its shell may write it may patch")
		}
	}
}

func (w *answer) codexBroker() {
	const server = "mcp_servers." + brokerServer + "."
	switch b := &w.ask.Broker; {
	case b.URL != "":
		w.flag("-c", server+"url="+tomlText(b.URL), "-c", server+"bearer_token_env_var="+tomlText(wire.TokenVariable))
	case b.set():
		w.flag("-c", server+"command="+tomlText(b.Command[0]), "-c", server+"args="+tomlList(b.Command[1:]))
	}
}
