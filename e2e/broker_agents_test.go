package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each real agent calls the tools of a broker, by the one MCP server that sbx adds to its
// command line, and no other's. What the broker's audit has is what the model asked for.
func TestBrokerAgents(t *testing.T) {
	needSandbox(t)
	const document = `{"version": 1, "tools": {
		"greet": {"description": "Greets.", "run": ["sh", "-c", "echo greeted >&2; echo hello from outside"]},
		"part": {"description": "Parts.", "run": ["sh", "-c", "echo parted"]}},
		"rules": [{"id": "one", "tool": "greet", "verdict": "allow"}]}`
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
				if said := r.truth.said("granted"); !strings.Contains(said, "hello from outside") {
					t.Errorf("the model was told %q", said)
				}
				if said := r.truth.said("denied"); strings.Contains(said, "parted") || said == "" {
					t.Errorf("the model was told %q", said)
				}
				calls, _ := json.Marshal(r.rec["broker"])
				if want := `"by_tool":{"greet":{"calls":1,"denied":0}`; !strings.Contains(string(calls), want) {
					t.Errorf("the record has %s", calls)
				}
				log, err := filepath.Glob(b.base + "/state/sbx/runs/*/broker.jsonl")
				must(t, err)
				if len(log) != 1 {
					t.Fatalf("%d audits", len(log))
				}
				if text, _ := os.ReadFile(log[0]); !strings.Contains(string(text), `"tool": "greet"`) {
					t.Errorf("the audit has %s", text)
				}
			})
		}
	})
}
