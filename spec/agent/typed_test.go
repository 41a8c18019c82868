package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sbx/spec"
)

func words(line string) []string {
	if line == "" {
		return nil
	}
	return strings.Split(line, "|")
}

func TestReadArgs(t *testing.T) {
	for _, c := range []struct {
		agent spec.Agent
		line  string
		want  string // bypass; mode; tools; stream
	}{
		{spec.Claude, "", ";;;"},
		{spec.Claude, "-p|hello|--verbose", ";;;"},
		{spec.Claude, "-p|x|--output-format|stream-json", ";;;stream"},
		{spec.Claude, "--output-format=stream-json", ";;;stream"},
		{spec.Claude, "--output-format|json", ";;;"},
		{spec.Claude, "--output-format", ";;;"},
		{spec.Claude, "--dangerously-skip-permissions", "--dangerously-skip-permissions;;;"},
		{spec.Claude, "--permission-mode|bypassPermissions", "--permission-mode bypassPermissions;bypassPermissions;;"},
		{spec.Claude, "--permission-mode=plan", ";plan;;"},
		{spec.Claude, "--permission-mode|plan|--permission-mode|acceptEdits", ";acceptEdits;;"},
		{spec.Claude, "--allowedTools|Bash(git:*),Read|Edit|-p|x", ";;Bash(git:*) Read Edit;"},
		{spec.Claude, "--allowed-tools=Bash(git add:*) Read|prompt text", ";;Bash(git add:*) Read;"},
		{spec.Claude, "--tools|Bash(a,b),Read", ";;Bash(a,b) Read;"},
		{spec.Claude, "--disallowedTools|Bash", ";;;"},
		// What asks for more counts behind "--": an option may have taken it for its value.
		{spec.Claude, "--append-system-prompt|--|--dangerously-skip-permissions", "--dangerously-skip-permissions;;;"},
		{spec.Claude, "--|--permission-mode|bypassPermissions", "--permission-mode bypassPermissions;;;"},
		{spec.Claude, "--|--permission-mode|plan|--output-format|stream-json", ";;;"},
		{spec.Claude, "-y", ";;;"},

		{spec.Codex, "exec|--json|x", ";;;stream"},
		{spec.Codex, "e|--experimental-json", ";;;stream"},
		{spec.Codex, "--json", ";;;"}, // its terminal interface
		{spec.Codex, "exec|--|--json", ";;;"},
		{spec.Codex, "exec|--yolo", "--yolo;;;"},
		{spec.Codex, "-s|read-only", ";read-only;;"},
		{spec.Codex, "-sworkspace-write", ";workspace-write;;"},
		{spec.Codex, "-s=danger-full-access", "-s danger-full-access;danger-full-access;;"},
		{spec.Codex, "--sandbox=read-only|--full-auto", ";workspace-write;;"},
		{spec.Codex, "-y", ";;;"},

		{spec.Gemini, "-p|x|-o|stream-json", ";;;stream"},
		{spec.Gemini, "--outputFormat|stream-json", ";;;stream"},
		{spec.Gemini, "-y", "-y;;;"},
		{spec.Gemini, "-yo|stream-json", "-y;;;"},
		{spec.Gemini, "-do|stream-json", ";;;stream"},
		{spec.Gemini, "--yolo=true", "--yolo;;;"},
		{spec.Gemini, "--approvalMode=yolo", "--approval-mode yolo;yolo;;"},
		{spec.Gemini, "--approval-mode|auto_edit", ";auto_edit;;"},
		{spec.Gemini, "--allowedTools|run_shell_command(git),write_file", ";;run_shell_command(git) write_file;"},
		{spec.NoAgent, "--yolo", ";;;"},
	} {
		got := ReadArgs(c.agent, words(c.line))
		stream := ""
		if got.Stream {
			stream = "stream"
		}
		if s := fmt.Sprintf("%s;%s;%s;%s", got.Bypass, got.Mode, strings.Join(got.Tools, " "), stream); s != c.want {
			t.Errorf("%s %s: %s, want %s", c.agent, c.line, s, c.want)
		}
	}
}

func TestEscalations(t *testing.T) {
	files := func(path string) []byte {
		return []byte(map[string]string{
			"wide.json":    `{"permissions": {"defaultMode": "bypassPermissions", "allow": ["Bash"]}}`,
			"servers.json": `{"mcpServers": {"x": {"command": "y"}}}`,
		}[path])
	}
	list := func(tools ...string) spec.Opt[[]string] { return spec.Some(tools) }
	for _, c := range []struct {
		agent spec.Agent
		line  string
		ask   Ask
		want  string // the fields; "" for none
	}{
		{spec.Claude, "--dangerously-skip-permissions", Ask{}, ""},
		{spec.Claude, "--dangerously-skip-permissions", Ask{Access: spec.WorkspaceWrite, Inside: true}, ""},
		{spec.Claude, "--dangerously-skip-permissions", Ask{Access: spec.ReadOnly, Inside: true}, "access_mode"},
		// --tools holds with every check off; patterns do not.
		{spec.Claude, "--dangerously-skip-permissions", Ask{Allowed: list("Read", "Bash")}, ""},
		{spec.Claude, "--dangerously-skip-permissions", Ask{Allowed: list("Read", "Bash(git:*)")}, "tools_allowed"},
		{spec.Claude, "--permission-mode|bypassPermissions", Ask{Denied: []string{"Read(//etc/**)"}}, "tools_denied"},
		{spec.Claude, "--permission-mode|acceptEdits", Ask{Access: spec.ReadOnly, Inside: true}, "access_mode"},
		{spec.Claude, "--permission-mode|bypassPermissions", Ask{Access: spec.ReadOnly, Inside: true}, "access_mode"},
		{spec.Claude, "--permission-mode|plan", Ask{Access: spec.ReadOnly, Inside: true}, ""},
		{spec.Claude, "--allowedTools|Bash(git log:*)", Ask{Allowed: list("Bash(git:*)")}, ""},
		{spec.Claude, "--allowedTools|Bash", Ask{Allowed: list("Bash(git:*)")}, "tools_allowed"},
		{spec.Claude, "--allowedTools|Read,Edit", Ask{Allowed: list("Read")}, "tools_allowed"},
		{spec.Claude, "--tools|Bash", Ask{Denied: []string{"Bash"}}, "tools_denied"},
		{spec.Claude, "--allowedTools|Bash", Ask{}, ""},

		// Settings and lists of servers say what flags do, as JSON or in a file.
		{spec.Claude, `--settings|{"permissions": {"allow": ["Bash(git log:*)"]}}`, Ask{Allowed: list("Bash(git:*)")}, ""},
		{spec.Claude, `--settings={"permissions": {"allow": ["Read", "Bash"]}}`, Ask{Allowed: list("Read", "Bash(git:*)")}, "tools_allowed"},
		{spec.Claude, "--settings|wide.json", Ask{Allowed: list("Bash(git:*)")}, "tools_allowed tools_allowed"},
		{spec.Claude, "--settings|wide.json", Ask{Access: spec.ReadOnly, Inside: true}, "access_mode"},
		{spec.Claude, "--settings|wide.json|--permission-mode|plan", Ask{Denied: []string{"Read(//etc/**)"}}, ""},
		{spec.Claude, "--settings|wide.json", Ask{}, ""},
		{spec.Claude, "--settings|none.json", Ask{Allowed: list("Bash(git:*)")}, ""},
		{spec.Claude, "-p|--|--settings|wide.json", Ask{Allowed: list("Bash(git:*)")}, ""},
		{spec.Claude, `--mcp-config|{"mcpServers": {}}`, Ask{Allowed: list("Read")}, ""},
		{spec.Claude, `--mcp-config|servers.json|{"mcpServers": {"y": {}}}`, Ask{Allowed: list("Read")}, "tools_allowed tools_allowed"},
		{spec.Claude, "--mcp-config|servers.json", Ask{Allowed: list("Read", "mcp__x__find")}, ""},
		{spec.Claude, "--mcp-config|servers.json", Ask{Allowed: list("mcp__*")}, ""},
		{spec.Claude, "--mcp-config|servers.json", Ask{Denied: []string{"Bash"}}, ""},
		{spec.Codex, "-c|features.shell_tool=true", Ask{Denied: []string{"Bash"}, Inside: true}, "tools_denied"},
		{spec.Codex, "-cfeatures.shell_tool=true", Ask{Denied: []string{"Bash"}, Inside: true}, "tools_denied"},
		{spec.Codex, "--config=features={shell_tool=true}", Ask{Denied: []string{"Bash"}, Inside: true}, "tools_denied"},
		{spec.Codex, "--enable|shell_tool", Ask{Denied: []string{"Bash"}, Inside: true}, "tools_denied"},
		{spec.Codex, "--disable|shell_tool|-c|web_search='disabled'|-c|model=x", Ask{Denied: []string{"Bash", "WebSearch"}, Inside: true}, ""},
		{spec.Codex, "--enable|shell_tool", Ask{Inside: true}, ""},

		// codex's own sandbox is off inside, and all that there is outside.
		{spec.Codex, "--yolo", Ask{Allowed: list("Read", "Bash"), Access: spec.ReadOnly, Inside: true}, ""},
		{spec.Codex, "--yolo", Ask{}, ""},
		{spec.Codex, "--yolo", Ask{Allowed: list("Read", "Bash"), Access: spec.ReadOnly}, "tools_allowed"},
		{spec.Codex, "-s|danger-full-access", Ask{Allowed: list("Read", "Bash"), Access: spec.WorkspaceWrite}, "tools_allowed"},
		{spec.Codex, "-s|workspace-write", Ask{Access: spec.ReadOnly, Inside: true}, "access_mode"},

		{spec.Gemini, "-yp", Ask{Allowed: list("Read")}, "tools_allowed"},
		{spec.Gemini, "--approvalMode|yolo", Ask{Denied: []string{"Bash"}}, "tools_denied"},
		{spec.Gemini, "-y", Ask{Access: spec.ReadOnly, Inside: true}, "access_mode"},
		{spec.Gemini, "-y", Ask{Access: spec.WorkspaceWrite, Inside: true}, ""},
		{spec.Gemini, "--approval-mode|auto_edit", Ask{Access: spec.ReadOnly, Inside: true}, "access_mode"},
		{spec.NoAgent, "--yolo", Ask{Allowed: list("Read")}, ""},
	} {
		var got []string
		for _, p := range Escalations(c.agent, ReadArgs(c.agent, words(c.line)).WithFiles(files), c.ask) {
			if p.Why == "" || p.Help == "" || p.On == "" {
				t.Errorf("%s: %+v", c.line, p)
			}
			got = append(got, string(p.Field))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s %s under %+v: %v, want %q", c.agent, c.line, c.ask, got, c.want)
		}
	}
}

func TestRewrite(t *testing.T) {
	for _, c := range []struct {
		agent       spec.Agent
		line, flags string
		want        string
		said        string // a word of it; "" for nothing
	}{
		{spec.Claude, "-p|x", "", "-p|x", ""},
		{spec.Claude, "-p|x", "--tools|Read", "--tools|Read|-p|x", ""},
		// Of two, claude takes the last, which is the caller's.
		{spec.Claude, "--permission-mode|plan|x", "--permission-mode|default", "--permission-mode|default|--permission-mode|plan|x", ""},
		{spec.Codex, "exec|--json|x", "-s|danger-full-access", "-s|danger-full-access|exec|--json|x", ""},
		{spec.Codex, "exec|--yolo|x", "-s|danger-full-access|-c|web_search=\"disabled\"", "-c|web_search=\"disabled\"|exec|--yolo|x", ""},
		{spec.Codex, "-s|read-only|exec", "-s|danger-full-access", "-s|danger-full-access|exec", "cannot start inside"},
		{spec.Codex, "-sread-only|exec", "-s|danger-full-access", "-s|danger-full-access|exec", "cannot start inside"},
		{spec.Codex, "--sandbox=danger-full-access|exec", "-s|danger-full-access", "-s|danger-full-access|exec", ""},
		{spec.Codex, "--full-auto|exec", "-s|read-only", "-s|read-only|exec", "the spec's tools make it read-only"},
		{spec.Codex, "-s|read-only|exec", "-c|agents.enabled=false", "-c|agents.enabled=false|-s|read-only|exec", ""},
		{spec.Codex, "exec|--|-s|read-only", "-s|danger-full-access", "-s|danger-full-access|exec|--|-s|read-only", ""},
		{spec.Gemini, "--approval-mode|plan|-p|x", "--approval-mode|default", "--approval-mode|default|-p|x", "--approval-mode plan is left out"},
		{spec.Gemini, "--approvalMode=plan|-p|x", "--approval-mode|default", "--approval-mode|default|-p|x", "is left out"},
		{spec.Gemini, "--approval-mode|plan", "--policy|/p", "--policy|/p|--approval-mode|plan", ""},
		{spec.NoAgent, "x", "y", "x", ""},
	} {
		args, flags := words(c.line), words(c.flags)
		typed, ours := slices.Clone(args), slices.Clone(flags)
		got, said := Rewrite(c.agent, args, flags)
		if strings.Join(got, "|") != c.want || !strings.Contains(strings.Join(said, " "), c.said) || c.said == "" && len(said) > 0 {
			t.Errorf("%s %s with %s:\n got %q, %q\nwant %s, %q", c.agent, c.line, c.flags, got, said, c.want, c.said)
		}
		if !slices.Equal(args, typed) || !slices.Equal(flags, ours) {
			t.Errorf("%s: what was typed changed", c.line)
		}
	}
}
