package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Each real agent calls the tools of a broker, through the one MCP server that sbx adds to its
// command line, and uses no other server. The broker's audit has what the model requested. A tool
// that cannot be allowed is not listed, and a call of it fails.
func TestBrokerAgents(t *testing.T) {
	needSandbox(t)
	const document = `{"version": 1, "tools": {
		"greet": {"description": "Greets.", "run": ["sh", "-c", "echo greeted >&2; echo hello \"$1\" from outside", "greet", "{word}"],
			"args": {"properties": {"word": {"type": "string"}}, "required": ["word"]}},
		"part": {"description": "Parts.", "run": ["sh", "-c", "echo parted"]}},
		"rules": [{"id": "one", "tool": "greet", "verdict": "allow"}, {"id": "no", "tool": "greet", "when": {"word": {"equals": "never"}}, "verdict": "deny"}]}`
	eachClient(t, func(t *testing.T, c *client) {
		for _, w := range []struct{ name, spec string }{
			{"by default", `{"access_mode": "workspace-write"}`},
			{"tools are named", `{"access_mode": "workspace-write", "tools_allowed": ["Read", "Write", "Edit", "Bash"]}`},
			{"the host's network", `{"access_mode": "workspace-write", "network": {"mode": "host"}}`},
		} {
			t.Run(w.name, func(t *testing.T) {
				b := c.box(t)
				s := c.ready(b, "broker")
				b.args = append(b.args, "--broker", b.write("broker.json", document))
				r := agentRun{result: b.run(w.spec, append([]string{c.name}, c.argv(t, "broker")...)...), b: b}
				r.truth = s.truth()
				t.Cleanup(func() {
					if t.Failed() {
						t.Logf("%v", r)
					}
				})
				if r.code != 0 {
					t.Errorf("status %d", r.code)
				}
				for name, want := range map[string]string{"granted": "hello first from outside", "again": "hello second; id from outside", "forbidden": "a rule denies it"} {
					if said := r.truth.said(name); !strings.Contains(said, want) || strings.Contains(said, "hello never") {
						t.Errorf("of %s the model was told %q", name, said)
					}
				}
				if said := r.truth.said("denied"); strings.Contains(said, "parted") || said == "" {
					t.Errorf("the model was told %q", said)
				}
				calls, _ := json.Marshal(r.rec["broker"])
				if want := `"by_tool":{"greet":{"calls":3,"denied":1}}`; !strings.Contains(string(calls), want) {
					t.Errorf("the record has %s", calls)
				}
				log, err := filepath.Glob(b.base + "/state/sbx/runs/*/broker.jsonl")
				must(t, err)
				if len(log) != 1 {
					t.Fatalf("%d audits", len(log))
				}
				text, err := os.ReadFile(log[0])
				must(t, err)
				var asked []string
				done := 0
				for line := range strings.Lines(string(text)) {
					var m map[string]any
					must(t, json.Unmarshal([]byte(line), &m))
					if m["event"] == "asked" {
						asked = append(asked, fmt.Sprint(m["tool"], m["args"], m["verdict"]))
					} else if m["event"] == "done" && m["status"] == 0.0 {
						done++
					}
				}
				slices.Sort(asked)
				if want := []string{`greet{"word":"first"}allow`, `greet{"word":"never"}deny`, `greet{"word":"second; id"}allow`}; !slices.Equal(asked, want) || done != 2 {
					t.Errorf("the audit has %q, and %d that ran", asked, done)
				}
			})
		}
	})
}
