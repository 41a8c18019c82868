package agent

import (
	"slices"
	"strings"
	"testing"

	"sbx/spec"
)

var some = spec.Some[[]string]

// asks are what agents are asked for, by name.
var asks = map[string]Ask{
	"nothing":     {},
	"no tools":    {Allowed: some([]string{})},
	"reading":     {Allowed: some([]string{"Read", "Grep", "Bash(git log:*)", "Bash(ls)"}), Mode: spec.AskDefault, Access: spec.ReadOnly, Dirs: []string{"/p"}},
	"writing":     {Allowed: some([]string{"Read", "Write", "Edit", "Bash(make:*)", "Bash(a*b)"}), Mode: spec.AcceptEdits, Access: spec.WorkspaceWrite, Dirs: []string{"/p", "/q,r"}},
	"documents":   {Allowed: some([]string{"Read", "Write"}), Mode: spec.AcceptEdits, Access: spec.ReadOnly, Writes: []string{"docs"}},
	"testing":     {Allowed: some([]string{"Read", "Bash"}), Access: spec.WorkspaceWrite},
	"inside":      {Allowed: some([]string{"Read", "Bash"}), Access: spec.ReadOnly, Inside: true},
	"denied":      {Denied: []string{"Bash", "Agent", "Read(//etc/**)"}},
	"deny wins":   {Allowed: some([]string{"Read", "Bash(git:*)", "MultiEdit"}), Denied: []string{"Bash", "Edit"}},
	"planning":    {Mode: spec.PlanOnly, Access: spec.WorkspaceWrite},
	"bypassing":   {Mode: spec.BypassPermissions, Access: spec.DangerFullAccess},
	"with policy": {Allowed: some([]string{"Read", "Bash(git:*)"}), PolicyFile: "/run/p.toml"},
	"everything":  {Allowed: some([]string{"Write", "Edit", "WebFetch", "Bash", "WebSearch", "Task"}), Mode: spec.AcceptEdits, Access: spec.WorkspaceWrite},
	"mcp":         {Allowed: some([]string{"Read", "mcp__x__y"})},

	"stars":           {Allowed: some([]string{"Web*", "Read", "mcp__*"})},
	"a star":          {Allowed: some([]string{"Read", "*"})},
	"an odd star":     {Allowed: some([]string{"Read", "Cron*"})},
	"own names":       {Allowed: some([]string{"run_shell_command(git:*)", "exec_command", "read_file"}), PolicyFile: "/run/p.toml"},
	"denied stars":    {Denied: []string{"Web*", "*Edit"}},
	"denied an odd":   {Denied: []string{"Cron*"}},
	"denied own":      {Denied: []string{"web_search", "apply_patch", "google_web_search", "Frob"}},
	"denied quietly":  {Denied: []string{"Read", "TodoWrite", "mcp__x"}},
	"denied, policy":  {Denied: []string{"Read", "Task", "mcp__x", "Bash(rm:*)"}, PolicyFile: "/run/p.toml"},
	"denied a rule":   {Denied: []string{"Bash(rm:*)"}, PolicyFile: "/run/p.toml"},
	"denied them all": {Denied: []string{"*"}, PolicyFile: "/run/p.toml"},
}

func TestFlags(t *testing.T) {
	for _, c := range []struct {
		agent   spec.Agent
		ask     string
		args    string // by |
		lacking string // the tools
	}{
		{spec.Claude, "nothing", "", ""},
		{spec.Claude, "no tools", "--tools||--disallowedTools|Write|Edit|NotebookEdit|Bash|WebFetch|WebSearch|Task|--strict-mcp-config", ""},
		{spec.Claude, "reading", "--allowedTools|Read|Grep|Bash(git log:*)|Bash(ls)|--tools|Read,Grep,Bash|--disallowedTools|Write|Edit|NotebookEdit|WebFetch|WebSearch|Task|--strict-mcp-config|--add-dir|/p|--permission-mode|default", ""},
		{spec.Claude, "denied", "--disallowedTools=Bash,Agent,Read(//etc/**),Task", ""},
		{spec.Claude, "deny wins", "--allowedTools|Read|--tools|Read|--disallowedTools|Bash|Edit|Write|NotebookEdit|WebFetch|WebSearch|Task|--strict-mcp-config", ""},
		{spec.Claude, "planning", "--permission-mode|plan", ""},
		{spec.Claude, "mcp", "--allowedTools|Read|mcp__x__y|--tools|Read|--disallowedTools=Write,Edit,NotebookEdit,Bash,WebFetch,WebSearch,Task,mcp__plugin_*,mcp__claude_ai_*", ""},

		{spec.Claude, "stars", "--allowedTools|WebFetch|WebSearch|Read|mcp__*|--tools|WebFetch,WebSearch,Read|--disallowedTools=Write,Edit,NotebookEdit,Bash,Task", ""},
		{spec.Claude, "a star", "", ""},
		{spec.Claude, "an odd star", "--allowedTools|Read|--tools|Read|--disallowedTools|Write|Edit|NotebookEdit|Bash|WebFetch|WebSearch|Task|--strict-mcp-config", "Cron*"},
		{spec.Claude, "denied stars", "--disallowedTools=Web*,WebFetch,WebSearch,*Edit,Edit,NotebookEdit", ""},
		{spec.Claude, "denied an odd", "--disallowedTools=Cron*", ""},
		{spec.Claude, "denied quietly", "--disallowedTools=Read,TodoWrite,mcp__x", ""},

		{spec.Codex, "nothing", "", ""},
		{spec.Codex, "a star", "", ""},
		{spec.Codex, "own names", "-c|web_search=\"disabled\"|-c|agents.enabled=false|-c|features.plugins=false|-c|features.apps=false", "Write Edit run_shell_command read_file"},
		{spec.Codex, "denied stars", "-c|web_search=\"disabled\"", "Edit"},
		{spec.Codex, "denied an odd", "", "Cron*"},
		{spec.Codex, "denied own", "-c|web_search=\"disabled\"", "Edit Write google_web_search Frob"},
		{spec.Codex, "denied quietly", "", "Read TodoWrite"},
		{spec.Codex, "no tools", "-c|features.shell_tool=false|-c|web_search=\"disabled\"|-c|agents.enabled=false|-c|features.plugins=false|-c|features.apps=false", "Write Edit"},
		{spec.Codex, "reading", "-s|read-only|-c|web_search=\"disabled\"|-c|agents.enabled=false|-c|features.plugins=false|-c|features.apps=false", "Bash"},
		{spec.Codex, "writing", "-s|workspace-write|-c|web_search=\"disabled\"|-c|agents.enabled=false|-c|features.plugins=false|-c|features.apps=false|--add-dir|/p|--add-dir|/q,r", "Bash"},
		{spec.Codex, "documents", "-s|workspace-write|-c|features.shell_tool=false|-c|web_search=\"disabled\"|-c|agents.enabled=false|-c|features.plugins=false|-c|features.apps=false", "Edit Read"},
		{spec.Codex, "testing", "-s|workspace-write|-c|web_search=\"disabled\"|-c|agents.enabled=false|-c|features.plugins=false|-c|features.apps=false", "Write Edit"},
		{spec.Codex, "inside", "-s|danger-full-access|-c|web_search=\"disabled\"|-c|agents.enabled=false|-c|features.plugins=false|-c|features.apps=false", ""},
		{spec.Codex, "denied", "-c|features.shell_tool=false|-c|agents.enabled=false", "Read(//etc/**)"},
		{spec.Codex, "planning", "-s|read-only", ""},
		{spec.Codex, "bypassing", "-s|danger-full-access", ""},
		{spec.Codex, "everything", "-s|workspace-write|-c|features.plugins=false|-c|features.apps=false", "WebFetch"},

		{spec.Gemini, "nothing", "", ""},
		{spec.Gemini, "a star", "", ""},
		{spec.Gemini, "own names", "--approval-mode|default|--allowed-tools|run_shell_command(git)|--policy|/run/p.toml", "exec_command"},
		{spec.Gemini, "denied stars", "--approval-mode|default", "WebSearch"},
		{spec.Gemini, "denied own", "--approval-mode|default", "WebSearch web_search apply_patch Frob"},
		{spec.Gemini, "denied quietly", "--approval-mode|default", "Read TodoWrite mcp__x"},
		{spec.Gemini, "denied, policy", "--approval-mode|default|--policy|/run/p.toml", "Bash(rm:*)"},
		{spec.Gemini, "denied a rule", "--approval-mode|default", "Bash(rm:*)"},
		{spec.Gemini, "denied them all", "--approval-mode|default|--policy|/run/p.toml", ""},
		{spec.Gemini, "reading", "--approval-mode|default|--allowed-tools|run_shell_command(git log),run_shell_command(ls)|--include-directories|/p", "WebSearch Task Glob Bash(ls) mcp__*"},
		{spec.Gemini, "writing", "--approval-mode|default|--allowed-tools|run_shell_command(make),write_file,replace|--include-directories|/p", "Bash(a*b) WebSearch Task Grep Glob /q,r mcp__*"},
		{spec.Gemini, "documents", "--approval-mode|default|--allowed-tools|write_file", "WebSearch Task Grep Glob mcp__*"},
		{spec.Gemini, "planning", "--approval-mode|plan", ""},
		{spec.Gemini, "bypassing", "--approval-mode|yolo", ""},
		{spec.Gemini, "with policy", "--approval-mode|default|--allowed-tools|run_shell_command(git)|--policy|/run/p.toml", ""},
		{spec.Gemini, "everything", "--approval-mode|auto_edit|--allowed-tools|run_shell_command", "Read Grep Glob mcp__*"},
	} {
		ask, ok := asks[c.ask]
		if !ok {
			t.Fatal(c.ask)
		}
		ask.Servers = &Servers{}
		before := strings.Join(ask.Allowed.Value, "|") + strings.Join(ask.Denied, "|")
		args, kept, lacking := Flags(c.agent, ask)
		if got := strings.Join(args, "|"); got != c.args {
			t.Errorf("%s, %s:\n got %s\nwant %s", c.agent, c.ask, got, c.args)
		}
		var tools []string
		for _, l := range lacking {
			if tools = append(tools, l.Tool); l.Why == "" {
				t.Errorf("%s, %s: %s lacks for no reason", c.agent, c.ask, l.Tool)
			}
		}
		slices.Sort(tools)
		want := strings.Fields(c.lacking)
		slices.Sort(want)
		if !slices.Equal(tools, want) {
			t.Errorf("%s, %s: lacks %v, want %v", c.agent, c.ask, tools, want)
		}
		for _, k := range kept {
			if k.Line == "" || k.How == "" || k.By.String() == "" {
				t.Errorf("%s, %s: %+v", c.agent, c.ask, k)
			}
		}
		if after := strings.Join(ask.Allowed.Value, "|") + strings.Join(ask.Denied, "|"); after != before {
			t.Errorf("%s, %s: what was asked changed", c.agent, c.ask)
		}
	}
}

// Every tool that acts and is not allowed is either taken away by the flags,
// and said to be, or lacking: none is dropped in silence.
func TestNothingIsDroppedInSilence(t *testing.T) {
	for name, ask := range asks {
		for _, ad := range adapters {
			args, kept, lacking := Flags(ad.agent, ask)
			said := strings.Join(args, " ")
			for _, k := range kept {
				said += "\n" + k.Line
			}
			for _, l := range lacking {
				said += "\n" + l.Tool
			}
			ask, _ := ask.spelled(ad.agent)
			for _, tool := range ask.withheld() {
				if _, has := spec.ToolNames(ad.agent, tool); !has {
					continue
				}
				closed := strings.Contains(said, "writes nothing") && writing(tool)
				if !closed && !strings.Contains(said, tool) {
					t.Errorf("%s, %s: %s is neither withheld nor lacking:\n%s", ad.agent, name, tool, said)
				}
			}
		}
	}
}

func TestKeepers(t *testing.T) {
	line := func(kept []Kept, begins string) *Kept {
		i := slices.IndexFunc(kept, func(k Kept) bool { return strings.HasPrefix(k.Line, begins) })
		if i < 0 {
			return &Kept{}
		}
		return &kept[i]
	}
	_, kept, _ := Flags(spec.Claude, asks["reading"])
	if line(kept, "no Write, Edit").By != ByBoth || line(kept, "no WebFetch").By != ByAgent || line(kept, "Bash unasked").By != ByAgent {
		t.Errorf("reading: %+v", kept)
	}
	_, kept, _ = Flags(spec.Claude, asks["testing"])
	if line(kept, "no Write, Edit").By != ByAgent {
		t.Errorf("testing: %+v", kept)
	}
	_, kept, _ = Flags(spec.Codex, asks["inside"])
	if line(kept, "writes nothing").By != ByKernel {
		t.Errorf("inside: %+v", kept)
	}
}

func TestPolicy(t *testing.T) {
	const deny = "[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 900\n"
	for _, c := range []struct {
		tools []string
		want  string
	}{
		{[]string{}, deny},
		{[]string{"Read", "Bash(git:*)", "Bash(x*y)"}, deny +
			"\n[[rule]]\ntoolName = [\"read_file\", \"read_many_files\"]\ndecision = \"allow\"\npriority = 950\n" +
			"\n[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = [\"git\"]\ndecision = \"allow\"\npriority = 950\n"},
		{[]string{"Bash(x*y)"}, deny}, // a rule without prefixes would allow any command
		{[]string{"Bash"}, deny + "\n[[rule]]\ntoolName = \"run_shell_command\"\nallowRedirection = true\ndecision = \"allow\"\npriority = 950\n"},
	} {
		if got := Policy(spec.Gemini, Ask{Allowed: some(c.tools)}); got != c.want {
			t.Errorf("%v:\n%s", c.tools, got)
		}
	}
	// What is denied alone leaves the rest as it is.
	const gone = "[[rule]]\ntoolName = [\"read_file\", \"read_many_files\", \"google_web_search\"]\ndecision = \"deny\"\npriority = 950\n"
	for _, ask := range []Ask{{Denied: []string{"Read", "google_web_search", "Bash(rm:*)", "NotebookEdit"}}, {Allowed: some([]string{"*"}), Denied: []string{"read_file", "WebSearch"}}} {
		if got := Policy(spec.Gemini, ask); got != gone {
			t.Errorf("%v:\n%s", ask, got)
		}
	}
	if got := Policy(spec.Gemini, Ask{Denied: []string{"*"}}); got != deny {
		t.Errorf("all denied:\n%s", got)
	}
	if Policy(spec.Gemini, Ask{}) != "" || Policy(spec.Gemini, asks["denied a rule"]) != "" || Policy(spec.Claude, asks["reading"]) != "" {
		t.Error("a policy for nobody")
	}
}

func TestBypass(t *testing.T) {
	for a, want := range map[spec.Agent]string{
		spec.Claude: "--dangerously-skip-permissions", spec.Codex: "--dangerously-bypass-approvals-and-sandbox",
		spec.Gemini: "--approval-mode yolo", spec.NoAgent: "",
	} {
		if got := strings.Join(Bypass(a), " "); got != want {
			t.Errorf("%s: %s", a, got)
		}
	}
	if args, kept, lacking := Flags(spec.NoAgent, asks["reading"]); args != nil || kept != nil || lacking != nil {
		t.Error("nobody has flags")
	}
}

// there is a file system where everything exists but what is named.
type there map[string]bool

func (t there) Lstat(path string) (spec.Info, error) {
	if t[path] {
		return spec.Info{}, spec.NoEntry
	}
	return spec.Info{IsDir: true}, nil
}

func (there) Readlink(string) (string, error) { return "", spec.NoEntry }

func TestNeeds(t *testing.T) {
	none := func(string) string { return "" }
	has := func(n *spec.AgentNeeds, path string, mode spec.OwnMode) bool {
		return slices.Contains(n.Files, spec.OwnFile{Path: path, Mode: mode})
	}
	n := Needs(spec.Claude, "/home/u", none, there{"/home/u/.bun": true})
	if !has(n, "/home/u/.claude", spec.OwnRead) || !has(n, "/home/u/.claude/projects", spec.OwnWrite) ||
		!has(n, "/home/u/.claude.json", spec.OwnRead) || !has(n, "/home/u/.local/bin", spec.OwnRead) || has(n, "/home/u/.bun", spec.OwnRead) {
		t.Errorf("%+v", n)
	}
	if n.Agent != spec.Claude || !slices.Contains(n.Pass, "ANTHROPIC_API_KEY") {
		t.Errorf("%+v", n)
	}
	moved := func(name string) string {
		return map[string]string{"CODEX_HOME": "/c/", "CLAUDE_CONFIG_DIR": "/k", "GEMINI_CLI_HOME": "/g"}[name]
	}
	if n := Needs(spec.Codex, "/home/u", moved, there{}); !has(n, "/c", spec.OwnWrite) || !has(n, "/c/config.toml", spec.OwnLocked) || !has(n, "/home/u/.local/bin", spec.OwnRead) {
		t.Errorf("%+v", n)
	}
	if n := Needs(spec.Claude, "/home/u", moved, there{}); !has(n, "/k/projects", spec.OwnWrite) || !has(n, "/home/u/.claude.json", spec.OwnRead) {
		t.Errorf("%+v", n)
	}
	if n := Needs(spec.Gemini, "/home/u", moved, there{}); !has(n, "/g/.gemini", spec.OwnWrite) || !has(n, "/home/u/.local/bin", spec.OwnRead) {
		t.Errorf("%+v", n)
	}
	if n := Needs(spec.Claude, "", none, there{}); len(n.Files) != 0 || len(n.Pass) == 0 {
		t.Errorf("%+v", n)
	}
	if Needs(spec.NoAgent, "/home/u", none, there{}) != nil {
		t.Error("needs of nobody")
	}
}

// A fourth agent is one file and one row.
func TestAdaptersAreComplete(t *testing.T) {
	for a := spec.Claude; a < spec.NoAgent; a++ {
		ad := find(a)
		if ad == nil || ad.flags == nil || len(ad.bypass) == 0 || len(ad.needs) == 0 || len(ad.pass) == 0 || ad.home == "" || ad.state == "" || ad.parser == 0 || ad.npm == "" || len(ad.installed) == 0 || len(ad.options) == 0 {
			t.Errorf("%s: %+v", a, ad)
		}
	}
}

// A tool that may be used and is not there opens nothing; one that cannot be withheld does.
func TestMissing(t *testing.T) {
	for access, want := range map[spec.AccessMode]string{spec.ReadOnly: "Read is missing", spec.WorkspaceWrite: "Write Edit Read is missing"} {
		_, _, lacking := Flags(spec.Codex, Ask{Allowed: some([]string{"Read"}), Access: access, Inside: true, Servers: &Servers{}})
		var got []string
		for _, l := range lacking {
			if got = append(got, l.Tool); l.Missing {
				got = append(got, "is missing")
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s: %s, want %s", access, s, want)
		}
	}
}
