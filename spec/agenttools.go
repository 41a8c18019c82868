package spec

import (
	"slices"
	"strings"

	"sbx/internal/doc"
)

// agentTool is a tool under the name that Claude, tools_allowed and tools_denied use, with each
// agent's names for it: those of its tools and, for codex, of the items of its stream. The usual
// name is first.
type agentTool struct {
	name   string   // the name in patterns
	claude []string // other names that Claude itself uses
	codex  []string
	gemini []string
}

// agentTools is the table of tool names. An agent's name may be in several rows: codex edits and creates
// files with one tool. codex has no tool that reads text files; it reads with programs in its shell.
//
// codex calls its tools from a program in its tool exec, and the items of its stream say which ones.
// exec is listed with the shell, which it mostly runs and which is the most that it can do.
var agentTools = []agentTool{
	{"Bash", nil,
		[]string{"command_execution", "exec_command", "shell", "shell_command", "local_shell", "local_shell_call", "write_stdin", "exec", "wait"},
		[]string{"run_shell_command"}},
	{"BashOutput", []string{"TaskOutput"}, nil, []string{"read_background_output", "list_background_processes"}},
	{"Read", nil, []string{"view_image"}, []string{"read_file", "read_many_files"}},
	{"Edit", []string{"MultiEdit"}, []string{"file_change", "apply_patch"}, []string{"replace"}},
	{"Write", nil, []string{"file_change", "apply_patch"}, []string{"write_file"}},
	{"NotebookEdit", nil, nil, nil},
	{"Grep", nil, []string{"grep_files"}, []string{"grep_search", "search_file_content"}},
	{"Glob", nil, nil, []string{"glob"}},
	{"LS", nil, []string{"list_dir"}, []string{"list_directory"}},
	{"WebFetch", nil, nil, []string{"web_fetch"}},
	{"WebSearch", nil, []string{"web_search", "web_search_call"}, []string{"google_web_search"}},
	{"Task", []string{"Agent"},
		[]string{"spawn_agent", "collab_tool_call", "send_input", "send_message", "followup_task", "wait_agent", "resume_agent", "close_agent", "interrupt_agent"},
		[]string{"invoke_agent"}},
	{"ListAgents", nil, []string{"list_agents"}, nil},
	{"TodoWrite", nil, []string{"todo_list", "update_plan"}, []string{"write_todos"}},
	{"Skill", nil, nil, []string{"activate_skill"}},
	{"AskUserQuestion", nil, []string{"request_user_input", "request_user_input_async"}, []string{"ask_user"}},
	{"EnterPlanMode", nil, nil, []string{"enter_plan_mode"}},
	{"ExitPlanMode", nil, nil, []string{"exit_plan_mode"}},
	{"ToolSearch", nil, []string{"tool_search"}, nil},
	{"ListMcpResources", []string{"ListMcpResourcesTool"}, []string{"list_mcp_resources"}, nil},
	{"ReadMcpResource", []string{"ReadMcpResourceTool"}, []string{"read_mcp_resource"}, nil},
}

// of returns the names that agent a has for the tool; nil if it has no such tool.
func (t *agentTool) of(a Agent) []string {
	switch a {
	case Codex:
		return t.codex
	case Gemini:
		return t.gemini
	}
	return append([]string{t.name}, t.claude...)
}

// ToolNames returns agent a's names for the tool that Claude calls name, the usual name first. ok is
// false if a has no such tool that is known; for Claude every name counts as a tool.
func ToolNames(a Agent, name string) (native []string, ok bool) {
	for i := range agentTools {
		if t := &agentTools[i]; t.name == name || slices.Contains(t.claude, name) {
			native = slices.Clone(t.of(a))
			return native, len(native) > 0
		}
	}
	if a == Claude {
		return []string{name}, true
	}
	return nil, false
}

// ClaudeTool returns Claude's name for the tool that agent a calls native, the first of several (see
// ClaudeTools), or native if the table does not have it.
func ClaudeTool(a Agent, native string) string {
	for i := range agentTools {
		if t := &agentTools[i]; slices.Contains(t.of(a), native) {
			return t.name
		}
	}
	return native
}

// ToolMeant returns the tool that a pattern's name was probably meant to be, if agent a has no tool of
// that name but one with a similar name; "" otherwise.
func ToolMeant(a Agent, pattern string) string {
	t, ok := ParseTool(pattern)
	if !ok || strings.Contains(t.Name, "*") || strings.HasPrefix(t.Name, "mcp__") {
		return ""
	}
	var known []string
	for i := range agentTools {
		row := &agentTools[i]
		known = append(append(append(known, row.name), row.claude...), row.of(a)...)
	}
	if slices.Contains(known, t.Name) {
		return ""
	}
	return doc.Nearest(t.Name, known)
}

// ToolsNamed returns Claude's names for the tools of the table that match a pattern's name, such as
// "Web*".
func ToolsNamed(pattern string) []string {
	var names []string
	for i := range agentTools {
		if t := agentTools[i].name; (Tool{Name: pattern}).Names(t) {
			names = append(names, t)
		}
	}
	return names
}

// ClaudeTools returns all of Claude's tools that agent a's tool native may be: codex's apply_patch is
// Edit and Write. It is empty if the table does not have native.
func ClaudeTools(a Agent, native string) []string {
	var names []string
	for i := range agentTools {
		if t := &agentTools[i]; slices.Contains(t.of(a), native) {
			names = append(names, t.name)
		}
	}
	return names
}
