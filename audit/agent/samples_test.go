package agent

import (
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"sbx/spec"
)

// want is the expected summary of a recorded stream, according to the facts of the run: its
// scenario and the server's own count of model turns.
type want struct {
	turns  int    // -1 for unknown
	tools  string // name requested/ran/refused
	shell  int
	tokens string // input/output, "" for unknown
	end    string // "completed", "cut off" or the reason
	unseen string // in order
}

var samples = map[string]want{
	// This is a success that is an error of the service, with a message that no model wrote.
	"claude-api-error.jsonl": {1, "Bash 1/1/0", 1, "100/10", "api_error", ""},
	"claude-basic.jsonl":     {4, "Bash 1/1/0 Write 1/1/0 Read 1/1/0", 1, "400/40", "completed", ""},
	// A permission rule refused a requested tool; the failed Read ran.
	"claude-denied.jsonl": {4, "Bash 1/1/0 Write 1/0/1 Read 1/1/0", 1, "400/40", "completed", ""},
	// A tool is switched off by name: there is no decision, and it is not in permission_denials.
	"claude-disallowed.jsonl": {4, "Bash 1/0/1 Write 1/1/0 Read 1/1/0", 0, "400/40", "completed", ""},
	"claude-interrupt.jsonl":  {1, "Bash 1/1/0", 1, "100/10", "aborted_tools", ""},
	"claude-max-turns.jsonl":  {2, "Bash 2/2/0", 2, "200/20", "max_turns", ""}, // num_turns: 3
	"claude-parallel.jsonl":   {2, "Bash 2/2/0 Read 1/1/0", 2, "200/20", "completed", ""},
	// The sub-agent's Bash counts, its turns do not, and the tokens are those of both.
	"claude-subagent.jsonl": {3, "Agent 1/1/0 Bash 2/2/0", 2, "500/50", "completed", ""},

	"codex-api-error.jsonl": {-1, "command_execution 1/1/0", 1, "", `{"error":{"type":"server_error","message":"scenario status 400"}}`, "version turns subagents refused tokens"},
	"codex-basic.jsonl":     {-1, "command_execution 2/2/0 file_change 1/1/0", 2, "400/40", "completed", "version turns subagents refused"},
	// The rejected patch is nowhere in the stream.
	"codex-denied.jsonl":    {-1, "command_execution 2/2/0", 2, "400/40", "completed", "version turns subagents refused"},
	"codex-interrupt.jsonl": {-1, "command_execution 1/0/0", 1, "", "cut off", "end version turns subagents refused tokens"},
	"codex-no-userns.jsonl": {-1, "command_execution 2/2/0 file_change 1/1/0", 2, "400/40", "completed", "version turns subagents refused"},
	"codex-parallel.jsonl":  {-1, "command_execution 3/3/0", 3, "200/20", "completed", "version turns subagents refused"},
	"codex-subagent.jsonl":  {-1, "collab_tool_call 1/1/0 command_execution 1/1/0", 1, "400/40", "completed", "version turns subagents refused"},

	"gemini-api-error.jsonl": {1, "run_shell_command 1/1/0", 1, "200/20", `[API Error: {"error":{"code":400,"message":"scenario status 400","status":"INTERNAL"}}]`, "version"},
	"gemini-basic.jsonl":     {4, "run_shell_command 1/1/0 write_file 1/1/0 read_file 1/1/0", 1, "500/50", "completed", "version"},
	"gemini-denied.jsonl":    {4, "run_shell_command 1/0/1 write_file 1/0/1 read_file 1/1/0", 0, "500/50", "completed", "version"},
	"gemini-max-turns.jsonl": {2, "run_shell_command 2/2/0", 2, "300/30", "FatalTurnLimitedError", "version"},
	"gemini-parallel.jsonl":  {2, "run_shell_command 2/2/0 read_file 1/1/0", 2, "300/30", "completed", "version"},
	"gemini-policy.jsonl":    {4, "run_shell_command 1/0/1 write_file 1/0/1 read_file 1/1/0", 0, "500/50", "completed", "version"},
	"gemini-subagent.jsonl":  {3, "invoke_agent 1/1/0 run_shell_command 1/1/0", 1, "700/70", "completed", "version subagents"},
}

func TestSamples(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) != len(samples) {
		t.Fatalf("%d samples, want %d: %v", len(files), len(samples), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		w, ok := samples[name]
		if !ok {
			t.Errorf("nobody says what %s is to give", name)
			continue
		}
		sum := summaryOf(t, agentOf(t, name), string(load(t, file)))
		check(t, name, sum, w)
		if sum.Session == "" || (sum.Version == "") == (sum.Name == "claude") {
			t.Errorf("%s: session %q, version %q", name, sum.Session, sum.Version)
		}
	}
}

func check(t *testing.T, name string, sum Summary, w want) {
	t.Helper()
	if got := shown(&sum); !reflect.DeepEqual(got, w) {
		t.Errorf("%s:\ngot  %+v\nwant %+v", name, got, w)
	}
}

// shown returns a summary in the form of want.
func shown(sum *Summary) want {
	w := want{turns: -1, tools: toolText(sum.Tools.Value), shell: sum.Shell.Or(-1), end: "cut off"}
	if sum.Turns.Set {
		w.turns = sum.Turns.Value
	}
	if k := sum.Tokens; k.Set {
		w.tokens = strconv.FormatInt(k.Value.Input, 10) + "/" + strconv.FormatInt(k.Value.Output, 10)
	}
	if sum.End.Set {
		w.end = sum.End.Value.Reason
		if sum.End.Value.Completed {
			w.end = "completed"
		}
	}
	var unseen []string
	for _, u := range sum.Unseen {
		unseen = append(unseen, u.What)
	}
	w.unseen = strings.Join(unseen, " ")
	return w
}

func toolText(tools []Tool) string {
	var s []string
	for _, t := range tools {
		s = append(s, t.Name+" "+strconv.Itoa(t.Asked)+"/"+strconv.Itoa(t.Ran)+"/"+strconv.Itoa(t.Refused))
	}
	return strings.Join(s, " ")
}

func summaryOf(t *testing.T, a spec.Agent, text string) Summary {
	t.Helper()
	s, ok := New(a, Hooks{})
	if !ok {
		t.Fatalf("%s has no reader", a)
	}
	if n, err := s.Write([]byte(text)); n != len(text) || err != nil {
		t.Fatal(n, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return s.Summary()
}

func agentOf(t *testing.T, file string) spec.Agent {
	t.Helper()
	name, _, _ := strings.Cut(file, "-")
	a, ok := spec.ParseAgent(name)
	if !ok {
		t.Fatal(file)
	}
	return a
}

func load(t testing.TB, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
