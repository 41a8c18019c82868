package agent

import (
	"slices"
	"strings"

	"sbx/spec"
)

var gemini = adapter{
	agent:  spec.Gemini,
	flags:  geminiFlags,
	bypass: []string{"--approval-mode", "yolo"},
	policy: geminiPolicy,
	pass:   []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"},
	models: "@google-ai",
	bases:  []string{"GOOGLE_GEMINI_BASE_URL", "CODE_ASSIST_ENDPOINT", "GOOGLE_VERTEX_BASE_URL"},
	clouds: []cloud{
		{"GOOGLE_GENAI_USE_VERTEXAI", []string{"GOOGLE_CLOUD_LOCATION"}, "us-central1", []string{"{}-aiplatform.googleapis.com:443", "aiplatform.googleapis.com:443", "oauth2.googleapis.com:443"}},
	},
	home:      "GEMINI_CLI_HOME",
	state:     "~",
	starts:    "7 to 15",
	npm:       "@google/gemini-cli",
	installed: []string{"/@google/gemini-cli/"},
	parser:    yargs,
	options: []option{
		{names: []string{"-y", "--yolo"}, means: isBypass},
		{names: []string{"--approval-mode"}, means: isMode, value: true},
		{names: []string{"--allowed-tools"}, means: isTools, value: true, list: true},
		{names: []string{"-o", "--output-format"}, means: isStream, is: "stream-json", value: true},
	},
	bypassModes:  []string{"yolo"},
	writingModes: []string{"auto_edit", "yolo"},
	// It exits at once if it cannot write its state.
	needs: []need{
		{"~/.gemini", spec.OwnWrite, "its registry of projects, history and sign-in"},
		{geminiSettings, spec.OwnLocked, "names MCP servers and hooks"},
		{"~/.gemini/trustedFolders.json", spec.OwnLocked, "whose settings it believes"},
		{"~/.gemini/trusted_hooks.json", spec.OwnLocked, "whose hooks it believes"},
		{"~/.gemini/acknowledgments", spec.OwnLocked, "whose agents it believes"},
		{"~/.gemini/mcp-server-enablement.json", spec.OwnLocked, "which MCP servers are off"},
		{"~/.gemini/.env", spec.OwnLocked, "variables of all that it starts"},
		{"~/.gemini/bin", spec.OwnLocked, "programs that it runs"},
		{"~/.gemini/agents", spec.OwnLocked, "sub-agents, with MCP servers"},
		{"~/.gemini/GEMINI.md", spec.OwnLocked, "its instructions in every project"},
		{"~/.gemini/extensions", spec.OwnLocked, "programs that it runs"},
		{"~/.gemini/commands", spec.OwnLocked, "its instructions by name"},
		{"~/.gemini/skills", spec.OwnLocked, "what it runs by name"},
		{"~/.gemini/policies", spec.OwnLocked, "which tools it uses without asking"},
		{"~/.gemini/antigravity/mcp_config.json", spec.OwnLocked, "names MCP servers of Antigravity's"},
		{"~/.gemini/config/mcp_config.json", spec.OwnLocked, "names MCP servers of Antigravity's"},
		{"~/.gemini/history/*/git/config", spec.OwnLocked, "names programs that git runs for its checkpoints"},
	},
}

const geminiSettings = "~/.gemini/settings.json"

// geminiAsks are the tools that gemini has in its default mode without a terminal only if they
// are granted. It always has the others of the table of tools, unless a policy denies them.
var geminiAsks = []string{"Bash", "Write", "Edit", "WebFetch", "Skill"}

// geminiFlags withholds tools by the approval mode: the default has neither the shell nor tools
// that write, and --allowed-tools adds the granted ones. auto_edit adds all tools that write and
// web_fetch, so it is used only if all of these are allowed. A policy file withholds the rest.
func geminiFlags(w *answer, ask Ask) {
	mode := geminiMode(ask)
	if ask.Allowed.Set || len(ask.Denied) > 0 || ask.Mode != 0 {
		w.flag("--approval-mode", mode)
	}
	grants := geminiGrants(w, mode)
	if len(grants) > 0 {
		w.flag("--allowed-tools", strings.Join(grants, ","))
	}
	policed := ask.PolicyFile != "" && geminiPolicy(ask) != ""
	var gone []string
	for _, t := range ask.withheld() {
		_, there := spec.ToolNames(spec.Gemini, t)
		switch {
		case !there:
		case policed, mode != "yolo" && slices.Contains(geminiAsks, t):
			gone = append(gone, t)
		default:
			w.lack(t, "gemini takes it away by a policy file alone")
		}
	}
	how := "--approval-mode " + mode
	if policed {
		w.flag("--policy", ask.PolicyFile)
		how += " and --policy"
	}
	switch {
	case ask.Allowed.Set && policed:
		w.keep(ByAgent, "tools: "+list(names(ask.granted()))+", and no others", "--policy")
	case ask.Allowed.Set:
		for _, t := range []string{"Read", "Grep", "Glob"} {
			if !ask.has(t) {
				w.lack(t, "gemini takes it away by a policy file alone")
			}
		}
	}
	if ask.Allowed.Set && !policed && ask.limitsServers() {
		w.lack(mcp+"*", "gemini takes tools of MCP servers that its settings trust away by a policy file alone")
	}
	for _, t := range ask.deniedQuietly() {
		switch _, there := spec.ToolNames(spec.Gemini, t); {
		case isMCP(t):
			w.geminiServers(t, policed, "takes it away")
		case ask.Allowed.Set && policed: // the policy denies all but the allowed tools
		case !there && !known(t):
			w.lack(t, "gemini has no such tool that is known")
		case !there:
		case policed:
			gone = append(gone, t)
		case !slices.Contains(geminiAsks, t):
			w.lack(t, "gemini takes it away by a policy file alone")
		}
	}
	w.keepWithheld(gone, how)
	for _, t := range ask.granted() {
		if ask.Allowed.Set && isMCP(t) {
			w.geminiServers(t, policed, "grants it")
		}
	}
	if rules, whole := ask.rules("Bash"); !whole && len(rules) > 0 {
		w.keep(ByAgent, "Bash: "+strings.Join(rules, ", ")+", and no others", "--allowed-tools; matched against the command's text")
	}
	for _, t := range ask.deniedRules() {
		w.lack(t, "gemini's command line has no patterns that deny")
	}
	w.missing()
	for _, f := range ask.Dirs {
		if strings.Contains(f, ",") { // the flag's value is a list
			w.lack(f, "gemini's --include-directories takes no name with a comma")
			continue
		}
		w.flag("--include-directories", f)
	}
}

func geminiMode(ask Ask) string {
	switch {
	case ask.Mode == spec.PlanOnly:
		return "plan"
	case ask.Mode == spec.BypassPermissions && !ask.Allowed.Set && len(ask.Denied) == 0:
		return "yolo"
	case ask.Mode == spec.AcceptEdits && ask.has("Write") && ask.has("Edit") && ask.has("WebFetch"):
		return "auto_edit"
	}
	return "default"
}

// geminiGrants returns the value of --allowed-tools.
func geminiGrants(w *answer, mode string) []string {
	if !w.ask.Allowed.Set || mode == "plan" || mode == "yolo" {
		return nil
	}
	var grants []string
	for _, t := range geminiAsks {
		if !w.ask.has(t) || mode == "auto_edit" && t != "Bash" && t != "Skill" {
			continue
		}
		native, _ := spec.ToolNames(spec.Gemini, t)
		if t != "Bash" {
			grants = append(grants, native[0])
			continue
		}
		rules, whole := w.ask.rules(t)
		if whole {
			grants = append(grants, native[0])
			continue
		}
		for _, prefix := range geminiPrefixes(w, rules) {
			grants = append(grants, native[0]+"("+prefix+")")
		}
	}
	return grants
}

// geminiPrefixes returns rules of Bash in gemini's form: the words that a command begins with. It
// does not grant rules of another form.
func geminiPrefixes(w *answer, rules []string) []string {
	var all []string
	for _, r := range rules {
		prefix, open := strings.CutSuffix(r, ":*")
		if !open {
			prefix, open = strings.CutSuffix(r, " *")
		}
		switch {
		case strings.ContainsAny(prefix, "*,()"):
			w.miss("Bash("+r+")", "gemini grants by the words that a command begins with, so it is not granted")
			continue
		case !open:
			w.lack("Bash("+r+")", "gemini grants it with further words, too")
		}
		all = append(all, prefix)
	}
	return all
}
