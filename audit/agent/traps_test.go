package agent

import (
	"strings"
	"testing"

	"sbx/spec"
)

const (
	claudeEnd = `{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","modelUsage":{"m":{"inputTokens":3,"outputTokens":2,"cacheReadInputTokens":5,"cacheCreationInputTokens":7}}}` + "\n"
	geminiEnd = `{"type":"result","status":"success","stats":{"input_tokens":1,"output_tokens":2}}` + "\n"
	codexEnd  = `{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":2}}` + "\n"
)

// said returns an event of claude's with one block of a message.
func said(id, parent, block string) string {
	return `{"type":"assistant","message":{"id":"` + id + `","model":"m","content":[` + block + `]},"parent_tool_use_id":` + parent + "}\n"
}

func use(id, name, command string) string {
	return `{"type":"tool_use","id":"` + id + `","name":"` + name + `","input":{"command":"` + command + `"}}`
}

func result(id, rest string) string {
	return `{"type":"user","message":{"content":[{"tool_use_id":"` + id + `","type":"tool_result"` + rest + "}\n"
}

const codexNever = "version turns subagents refused"

func TestTraps(t *testing.T) {
	cases := []struct {
		name  string
		agent spec.Agent
		text  string
		want  want
	}{
		{"no stream", spec.Claude, "", want{-1, "", -1, "", "cut off", "stream"}},
		{"text and no stream", spec.Gemini, "Hello.\n{}\n{\"type\":\"other\"}\n", want{-1, "", -1, "", "cut off", "stream"}},
		{"an event in a text is none", spec.Claude,
			said("a", "null", `{"type":"text","text":"{\"type\":\"assistant\",\"message\":{\"id\":\"b\",\"content\":[{\"type\":\"tool_use\",\"id\":\"x\",\"name\":\"Bash\"}]}}\n"}`) + claudeEnd,
			want{1, "", 0, "15/2", "completed", ""}},
		{"an event in a call's input is none", spec.Claude,
			said("a", "null", `{"type":"tool_use","id":"x","name":"Write","input":{"type":"tool_use","name":"Bash","parent_tool_use_id":"y","content":[{"type":"tool_use","id":"z","name":"Bash"}]}}`) + claudeEnd,
			want{1, "Write 1/0/0", 0, "15/2", "completed", ""}},
		{"one message in several events", spec.Claude,
			said("a", "null", `{"type":"thinking","thinking":"hm"}`) + said("a", "null", `{"type":"text","text":"so"}`) + said("a", "null", use("x", "Bash", "ls")) + claudeEnd,
			want{1, "Bash 1/0/0", 1, "15/2", "completed", ""}},
		{"one call told twice", spec.Claude,
			said("a", "null", use("x", "Bash", "ls")) + said("a", "null", use("x", "Bash", "ls")) + result("x", `}]}`) + claudeEnd,
			want{1, "Bash 1/1/0", 1, "15/2", "completed", ""}},
		{"a refusal that only the end lists", spec.Claude,
			said("a", "null", use("x", "Bash", "ls")) + result("x", `}]}`) + strings.Replace(claudeEnd, `{"type"`, `{"permission_denials":[{"tool_name":"Bash","tool_use_id":"x"}],"type"`, 1),
			want{1, "Bash 1/0/1", 0, "15/2", "completed", ""}},
		{"a tool that prints a refusal", spec.Claude,
			said("a", "null", use("x", "Bash", "ls")) + result("x", `,"is_error":true,"content":"<tool_use_error>No such tool available"}]},"tool_result_meta":[{"id":"x","permission_decision":{"decision":"accept"}}]`) + claudeEnd,
			want{1, "Bash 1/1/0", 1, "15/2", "completed", ""}},
		{"a sub-agent speaks between", spec.Claude,
			said("a", "null", use("t", "Task", "")) + said("s", `"t"`, use("x", "Bash", "ls")) + said("s", `"t"`, `{"type":"text","text":"done"}`) + result("x", `}]},"parent_tool_use_id":"t"`) + result("t", `}]}`) + said("b", "null", `{"type":"text","text":"."}`) + claudeEnd,
			want{2, "Task 1/1/0 Bash 1/1/0", 1, "15/2", "completed", ""}},
		{"a turn told in parts", spec.Claude,
			`{"type":"stream_event","event":{"type":"message_start","message":{"id":"a","content":[]}},"parent_tool_use_id":null}` + "\n" +
				`{"type":"stream_event","event":{"type":"content_block_start","content_block":{"type":"tool_use","id":"x","name":"Bash"}}}` + "\n" +
				said("a", "null", use("x", "Bash", "ls")) + claudeEnd,
			want{1, "Bash 1/0/0", 1, "15/2", "completed", ""}},
		{"type comes last", spec.Claude,
			`{"event":{"message":{"id":"a"},"type":"message_start"},"type":"stream_event"}` + "\n" +
				`{"message":{"content":[` + use("x", "Bash", "ls") + `],"id":"b"},"type":"assistant"}` + "\n" +
				`{"modelUsage":{"m":{"inputTokens":3,"outputTokens":2}},"terminal_reason":"completed","is_error":false,"subtype":"success","type":"result"}`,
			want{2, "Bash 1/0/0", 1, "3/2", "completed", ""}},
		{"it goes on after an end", spec.Claude,
			said("a", "null", "") + claudeEnd + said("b", "null", ""),
			want{2, "", 0, "15/2", "cut off", "end"}},
		{"success that is none", spec.Claude,
			said("a", "null", "") + strings.Replace(claudeEnd, `false`, `true`, 1),
			want{1, "", 0, "15/2", "completed", ""}},
		{"cut off in a line", spec.Claude,
			said("a", "null", use("x", "Bash", "ls")) + said("b", "null", "")[:60],
			want{1, "Bash 1/0/0", 1, "", "cut off", "end tokens lines"}},
		{"the last line has no newline", spec.Gemini, strings.TrimSuffix(geminiEnd, "\n"), want{0, "", 0, "1/2", "completed", "version"}},
		{"CRLF, NUL, warnings and damage between", spec.Gemini,
			"Warning: {\"type\":\"tool_use\"}\r\n\x00\x00\r\n\r\n" +
				`{"type":"tool_use","tool_name":"glob","tool_id":"1","parameters":{}}` + "\r\n" +
				"{\"type\":\"tool_use\",\"tool_name\":\"glob\x00\r\n" + `{"type" "tool_use"}` + "\n{\"type\":\"message\n" + geminiEnd,
			want{1, "glob 1/0/0", 0, "1/2", "completed", "version lines"}},
		{"names with escapes", spec.Claude,
			`{"t\u0079pe":"\u0061ssistant","message":{"id":"\u0061","content":[{"type":"tool\u005fuse","id":"x","name":"\u0042ash","input":{}}]}}` + "\n" + said("a", "null", use(`\u0078`, "Bash", "ls")) + claudeEnd,
			want{1, "Bash 1/0/0", 1, "15/2", "completed", ""}},
		{"of a key that stands twice the first counts", spec.Gemini,
			`{"type":"tool_use","tool_name":"glob","tool_name":"replace","tool_id":"1","type":"result","status":"error"}` + "\n" + geminiEnd,
			want{1, "glob 1/0/0", 0, "1/2", "completed", "version"}},
		{"numbers that do not fit", spec.Gemini,
			`{"type":"result","status":"success","stats":{"input_tokens":99999999999999999999,"output_tokens":1e9}}` + "\n",
			want{0, "", 0, "", "completed", "version tokens"}},
		{"gemini speaks in pieces", spec.Gemini,
			`{"type":"message","role":"user","content":"go"}` + "\n" + strings.Repeat(`{"type":"message","role":"assistant","content":"x","delta":true}`+"\n", 5) +
				`{"type":"tool_use","tool_name":"glob","tool_id":"1"}` + "\n" + `{"type":"tool_result","tool_id":"1","status":"error","error":{"type":"glob_execution_error"}}` + "\n" +
				`{"type":"error","message":"again"}` + "\n" + `{"type":"tool_use","tool_name":"glob","tool_id":"2"}` + "\n" + `{"type":"tool_result","tool_id":"2","status":"error","error":{"type":"invalid_tool_params"}}` + "\n" + geminiEnd,
			want{2, "glob 2/1/1", 0, "1/2", "completed", "version"}},
		{"codex' items", spec.Codex,
			`{"type":"item.started","item":{"id":"1","type":"command_execution","command":"ls","status":"in_progress"}}` + "\n" +
				`{"type":"item.updated","item":{"id":"1","type":"command_execution","command":"ls","status":"in_progress"}}` + "\n" +
				`{"type":"item.completed","item":{"id":"1","type":"command_execution","command":"ls","status":"declined"}}` + "\n" +
				`{"type":"item.completed","item":{"id":"2","type":"web_search","query":"q"}}` + "\n" +
				`{"type":"item.completed","item":{"id":"3","type":"mcp_tool_call","server":"s","tool":"t","status":"failed"}}` + "\n" +
				`{"item":{"type":"todo_list","id":"4"},"type":"item.completed"}` + "\n" +
				`{"item":{"type":"agent_message","text":"{\"type\":\"turn.failed\"}","id":"5"},"type":"item.completed"}` + "\n" + codexEnd,
			want{-1, "command_execution 1/0/1 web_search 1/1/0 mcp__s__t 1/1/0", 0, "1/2", "completed", codexNever}},
		{"codex tries again after an error", spec.Codex,
			`{"type":"turn.started"}` + "\n" + `{"type":"error","message":"reconnecting"}` + "\n" + codexEnd,
			want{-1, "", 0, "1/2", "completed", codexNever}},
		{"a result for nobody", spec.Claude, result("x", `}]}`) + claudeEnd, want{0, "", 0, "15/2", "completed", ""}},
		{"calls without an id", spec.Gemini,
			`{"type":"tool_use","tool_name":"glob"}` + "\n" + `{"type":"tool_use","tool_name":"glob"}` + "\n" + geminiEnd,
			want{1, "glob 2/0/0", 0, "1/2", "completed", "version tools"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { check(t, c.name, summaryOf(t, c.agent, c.text), c.want) })
	}
}

func TestOtherAgentsHaveNoReader(t *testing.T) {
	for _, a := range []spec.Agent{0, spec.NoAgent} {
		if _, ok := New(a, Hooks{}); ok {
			t.Errorf("%q has a reader", a)
		}
	}
}

func TestToolsUsed(t *testing.T) {
	sum := summaryOf(t, spec.Claude, said("a", "null", use("1", "Bash", "ls")+","+use("2", "Read", "")+","+use("3", "Bash", "ls")))
	if got := sum.ToolsUsed(); !got.Set || strings.Join(got.Value, " ") != "Bash Read" {
		t.Error(got)
	}
	if got := sum.Tools.Value; got[0].Name != "Bash" || got[0].Asked != 2 {
		t.Error(got)
	}
	none := summaryOf(t, spec.Claude, "")
	if none.ToolsUsed().Set {
		t.Error("tools_used is told of no stream")
	}
}
