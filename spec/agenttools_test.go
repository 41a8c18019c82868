package spec

import (
	"slices"
	"testing"
)

func TestToolNames(t *testing.T) {
	cases := []struct {
		agent Agent
		name  string
		first string // "" if there is none
	}{
		{Claude, "Bash", "Bash"},
		{Claude, "Agent", "Task"},
		{Claude, "ReportFindings", "ReportFindings"},
		{Claude, "mcp__x__y", "mcp__x__y"},
		{Codex, "Bash", "command_execution"},
		{Codex, "Write", "file_change"},
		{Codex, "Edit", "file_change"},
		{Codex, "MultiEdit", "file_change"},
		{Codex, "WebSearch", "web_search"},
		{Codex, "Task", "spawn_agent"},
		{Codex, "Agent", "spawn_agent"},
		{Codex, "Glob", ""},
		{Codex, "Monitor", ""},
		{Gemini, "Bash", "run_shell_command"},
		{Gemini, "Write", "write_file"},
		{Gemini, "Edit", "replace"},
		{Gemini, "Read", "read_file"},
		{Gemini, "Grep", "grep_search"},
		{Gemini, "Glob", "glob"},
		{Gemini, "WebFetch", "web_fetch"},
		{Gemini, "WebSearch", "google_web_search"},
		{Gemini, "Agent", "invoke_agent"},
		{Gemini, "NotebookEdit", ""},
		{Gemini, "", ""},
	}
	for _, c := range cases {
		native, ok := ToolNames(c.agent, c.name)
		if ok != (c.first != "") || ok && native[0] != c.first {
			t.Errorf("%s %q: %q %v, want %q", c.agent, c.name, native, ok, c.first)
		}
	}
}

func TestClaudeTool(t *testing.T) {
	cases := []struct {
		agent  Agent
		native string
		names  []string
	}{
		{Claude, "Agent", []string{"Task"}},
		{Claude, "Monitor", nil},
		{Codex, "exec", []string{"Bash"}},
		{Codex, "exec_command", []string{"Bash"}},
		{Codex, "apply_patch", []string{"Edit", "Write"}},
		{Codex, "Bash", nil},
		{Gemini, "search_file_content", []string{"Grep"}},
		{Gemini, "read_many_files", []string{"Read"}},
		{Gemini, "exec", nil},
	}
	for _, c := range cases {
		if got := ClaudeTools(c.agent, c.native); !slices.Equal(got, c.names) {
			t.Errorf("%s %q: %q, want %q", c.agent, c.native, got, c.names)
		}
		want := c.native
		if len(c.names) > 0 {
			want = c.names[0]
		}
		if got := ClaudeTool(c.agent, c.native); got != want {
			t.Errorf("%s %q: %q, want %q", c.agent, c.native, got, want)
		}
	}
}

// TestToolTable checks that a name that is translated into an agent's words is translated back, and
// that no name of Claude's is in two rows.
func TestToolTable(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range agentTools {
		for _, name := range row.of(Claude) {
			if seen[name] {
				t.Errorf("%s is there twice", name)
			}
			seen[name] = true
		}
		for _, a := range []Agent{Claude, Codex, Gemini} {
			native, _ := ToolNames(a, row.name)
			for _, n := range native {
				if !slices.Contains(ClaudeTools(a, n), row.name) {
					t.Errorf("%s: %s became %s and did not come back", a, row.name, n)
				}
			}
		}
	}
}
