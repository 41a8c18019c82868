package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// protocol is one of the three protocols of the model server, as far as walking through a scenario
// needs it.
type protocol struct {
	path  string
	tools any
	// next adds an answer and the results of its calls to a history.
	next func(history []any, reply map[string]any) (longer []any, calls int)
	body func(history []any, tools any) map[string]any
	user func(text string) any
}

func names(words ...string) []any {
	var all []any
	for _, w := range words {
		all = append(all, map[string]any{"name": w, "type": "function"})
	}
	return all
}

type object = map[string]any

var protocols = map[string]protocol{
	"anthropic": {
		path: "/v1/messages", tools: names("Bash", "Read", "Write", "Agent"),
		user: func(text string) any { return object{"role": "user", "content": text} },
		body: func(h []any, tools any) object { return object{"model": "m", "messages": h, "tools": tools} },
		next: func(h []any, reply object) ([]any, int) {
			var results []any
			for _, b := range reply["content"].([]any) {
				if b := b.(object); b["type"] == "tool_use" {
					results = append(results, object{"type": "tool_result", "tool_use_id": b["id"], "content": "ok"})
				}
			}
			return append(h, object{"role": "assistant", "content": reply["content"]}, object{"role": "user", "content": results}), len(results)
		},
	},
	"openai": {
		path: "/v1/responses", tools: names("exec_command", "apply_patch", "spawn_agent", "wait_agent"),
		user: func(text string) any { return object{"type": "message", "role": "user", "content": text} },
		body: func(h []any, tools any) object { return object{"model": "m", "input": h, "tools": tools} },
		next: func(h []any, reply object) ([]any, int) {
			calls := 0
			for _, i := range reply["output"].([]any) {
				h = append(h, i)
				if kind := i.(object)["type"].(string); strings.HasSuffix(kind, "_call") {
					h = append(h, object{"type": kind + "_output", "call_id": i.(object)["call_id"], "output": "ok"})
					calls++
				}
			}
			return h, calls
		},
	},
	"gemini": {
		path: "/v1beta/models/m:generateContent",
		tools: []any{object{"functionDeclarations": append(names("run_shell_command", "read_file", "write_file", "invoke_agent"),
			object{"name": "complete_task", "parameters": object{"type": "object", "properties": object{"r": object{"type": "string"}}}})}},
		user: func(text string) any { return object{"role": "user", "parts": []any{object{"text": text}}} },
		body: func(h []any, tools any) object { return object{"contents": h, "tools": tools} },
		next: func(h []any, reply object) ([]any, int) {
			said := reply["candidates"].([]any)[0].(object)["content"].(object)
			var results []any
			for _, p := range said["parts"].([]any) {
				if c, ok := p.(object)["functionCall"].(object); ok {
					if c["name"] == "complete_task" { // the end of a sub-agent
						return h, 0
					}
					results = append(results, object{"functionResponse": object{"id": c["name"].(string) + "__" + c["id"].(string), "response": object{"output": "ok"}}})
				}
			}
			return append(h, said, object{"role": "user", "parts": results}), len(results)
		},
	},
}

// walk carries on a conversation to its end and returns the number of answers.
func (p protocol) walk(url, prompt string) (answers int, err error) {
	history := []any{p.user(prompt)}
	client := http.Client{Timeout: 10 * time.Second}
	for ; answers < 20; answers++ {
		text, _ := json.Marshal(p.body(history, p.tools))
		res, err := client.Post(url+p.path, "application/json", bytes.NewReader(text))
		if err != nil {
			return answers, err
		}
		text, _ = io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return answers, fmt.Errorf("status %d", res.StatusCode)
		}
		var reply object
		if err := json.Unmarshal(text, &reply); err != nil {
			return answers, err
		}
		calls := 0
		if history, calls = p.next(history, reply); calls == 0 {
			return answers + 1, nil
		}
	}
	return answers, fmt.Errorf("no end after %d answers", answers)
}

// Every scenario, with each of its threads, can be walked to its end in every protocol, and the
// server then knows every result. No agent is needed.
func TestModelServer(t *testing.T) {
	needPrograms(t, "node")
	files, err := filepath.Glob(filepath.Join(moduleDir, "testdata/clients/scenarios/*.json"))
	must(t, err)
	if len(files) < 6 {
		t.Fatalf("%d scenarios", len(files))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		var doc struct {
			Turns   []struct{ Only []string }
			Threads map[string][]object
		}
		must(t, json.Unmarshal(text, &doc))
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			s := newBox(t).serve(name)
			total := 0
			for provider, p := range protocols {
				want, wrong := 0, ""
				for _, turn := range doc.Turns {
					if turn.Only == nil || slices.Contains(turn.Only, provider) {
						want++
					}
				}
				if name == "api-error" {
					want, wrong = want-1, "status 400"
				}
				got, err := p.walk(s.url, "Go.")
				if got != want || (err != nil || wrong != "") && fmt.Sprint(err) != wrong {
					t.Errorf("%s: %d answers and %v, want %d and %q", provider, got, err, want, wrong)
				}
				total += want
				for thread := range doc.Threads {
					if _, err := p.walk(s.url, "[[thread:"+thread+"]] Go."); err != nil {
						t.Errorf("%s, thread %s: %v", provider, thread, err)
					}
				}
			}
			x := s.truth()
			if x.turns() != total {
				t.Errorf("%d turns in its truth, want %d", x.turns(), total)
			}
			for _, c := range x.Calls {
				if c.Do != "complete" && (c.Result == nil || c.Result.Text != "ok") {
					t.Errorf("no result of %s %s", c.Tool, c.Name)
				}
			}
		})
	}
}
