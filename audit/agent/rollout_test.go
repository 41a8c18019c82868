package agent

import (
	"reflect"
	"strings"
	"testing"

	"sbx/spec"
)

// TestRollouts reads a stream of codex's and its rollout file, both from one run.
func TestRollouts(t *testing.T) {
	cases := map[string]struct {
		want   want
		called string
	}{
		"basic": {want{4, "command_execution 2/2/0 file_change 1/1/0", 2, "400/40", "completed", "refused"}, "exec 3/3/0"},
		// The rejected patch was part of the program of exec, which ran.
		"denied": {want{4, "command_execution 2/2/0", 2, "400/40", "completed", "refused"}, "exec 3/3/0"},
		// An answer that was an error is not a turn.
		"failing": {want{1, "command_execution 1/1/0", 1, "100/10", `{"error":{"type":"server_error","message":"scenario status 400"}}`, "refused"}, "exec 1/1/0"},
		"loop":    {want{7, "command_execution 6/6/0", 6, "700/70", "completed", "refused"}, "exec 6/6/0"},
		// A model that codex does not know is offered the shell itself.
		"plain":    {want{4, "command_execution 3/3/0", 3, "400/40", "completed", "refused"}, "exec_command 3/3/0"},
		"subagent": {want{4, "collab_tool_call 1/1/0 command_execution 1/1/0", 1, "400/40", "completed", "subagents refused"}, "spawn_agent 1/1/0 wait_agent 1/1/0 exec 1/1/0"},
	}
	for name, c := range cases {
		stream := load(t, "testdata/rollout-"+name+".stream")
		file := load(t, "testdata/rollout-"+name+".rollout")
		for _, size := range []int{1, 100, len(file)} {
			s, _ := New(spec.Codex, Hooks{})
			turns := 0
			r := NewRollout(Hooks{Turn: func(n int) { turns = n }})
			s.Write(stream)
			s.Close()
			for p := file; len(p) > 0; {
				n := min(size, len(p))
				r.Write(p[:n])
				p = p[n:]
			}
			s.Supplement(r)
			sum := s.Summary()
			check(t, name, sum, c.want)
			if got := toolText(sum.Called.Value); got != c.called || sum.Version != "0.169.0" || turns != c.want.turns || r.tally.turns != turns {
				t.Errorf("%s: called %q, version %q, %d turns told", name, got, sum.Version, turns)
			}
		}
	}
}

func item(payload string) string {
	return `{"timestamp":"2026-11-21T20:05:41.400Z","type":"response_item","payload":{` + payload + "}}\n"
}

func count(total string) string {
	return `{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":1,"output_tokens":1,"total_tokens":` + total + "}}}}\n"
}

func TestRolloutTraps(t *testing.T) {
	call := func(name, id string) string {
		return item(`"type":"function_call","name":"` + name + `","call_id":"` + id + `"`)
	}
	output := func(id, text string) string {
		return item(`"type":"function_call_output","call_id":"` + id + `","output":"` + text + `"`)
	}
	cases := []struct {
		name   string
		text   string
		turns  int
		called string
	}{
		{"empty", "", 0, ""},
		{"a turn that has begun", call("exec_command", "1"), 1, "exec_command 1/0/0"},
		{"a count that is repeated", call("a", "1") + count("10") + count("10") + call("b", "2") + count("10") + call("c", "3") + count("20"), 2, "a 1/0/0 b 1/0/0 c 1/0/0"},
		{"a count of nothing", `{"type":"event_msg","payload":{"type":"token_count","info":null}}` + "\n" + call("a", "1") + count("10"), 1, "a 1/0/0"},
		{"what the user and the developer say", item(`"type":"message","role":"user"`) + item(`"type":"message","role":"developer"`) + count("10"), 0, ""},
		{"usage records as well", call("a", "1") + `{"type":"token_usage_record","payload":{}}` + "\n" + output("1", "x") + count("10") + item(`"type":"message","role":"assistant"`), 2, "a 1/1/0"},
		{"a refused patch", call("apply_patch", "1") + output("1", "patch rejected: rejected by user approval settings"), 1, "apply_patch 1/0/1"},
		{"a tool that is not there", call("nothing", "1") + output("1", "unsupported call: nothing"), 1, "nothing 1/0/1"},
		{"a file that holds those words", call("exec_command", "1") + output("1", "Output:\\nunsupported call: x"), 1, "exec_command 1/1/0"},
		{"a server's tool", item(`"type":"function_call","name":"t","namespace":"mcp__s","call_id":"1"`), 1, "mcp__s__t 1/0/0"},
	}
	for _, c := range cases {
		r := NewRollout(Hooks{})
		r.Write([]byte(c.text))
		if got := toolText(r.tally.tools); r.tally.turns != c.turns || got != c.called {
			t.Errorf("%s: %d turns, %q; want %d, %q", c.name, r.tally.turns, got, c.turns, c.called)
		}
	}
}

// TestRolloutHooks checks that an item which the stream shows is not reported twice.
func TestRolloutHooks(t *testing.T) {
	var told []string
	r := NewRollout(Hooks{Tool: func(w Wish) { told = append(told, w.Name+" "+strings.Join(w.As, ",")) }})
	for i, name := range []string{"exec", "exec_command", "apply_patch", "web_search", "mcp__s__t", "spawn_agent", "update_plan", "odd"} {
		r.Write([]byte(item(`"type":"function_call","name":"` + name + `","call_id":"` + string(rune('a'+i)) + `"`)))
	}
	if want := []string{"spawn_agent Task", "update_plan TodoWrite", "odd odd"}; !reflect.DeepEqual(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}
