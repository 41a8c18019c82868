package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// authorized adds the token to each request.
type authorized struct{}

func (authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+brokerToken)
	return http.DefaultTransport.RoundTrip(r)
}

// An agent's MCP client finds the tools that could be allowed, and calls them over HTTP, and over
// stdio by sbx-broker connect. Both lead to the same decisions.
func TestBrokerSpeaksMCP(t *testing.T) {
	needSandbox(t)
	rules := strings.Replace(brokerTools, "rules:", "rules:\n  - {tool: slow, verdict: deny}", 1)
	b := readyBroker(t, rules, ofBroker{environ: brokerEnv()})
	b.write(b.ws+"/a.txt", "text of a\n")
	b.write(b.ws+"/x.env", "text of env\n")
	connect := exec.Command(filepath.Join(filepath.Dir(sbxPath), "sbx-broker"), "connect")
	connect.Env = append(b.env, "SBX_BROKER_URL="+b.url, "SBX_BROKER_TOKEN="+brokerToken)
	for name, transport := range map[string]mcp.Transport{
		"http":  &mcp.StreamableClientTransport{Endpoint: b.url + "/mcp", HTTPClient: &http.Client{Transport: authorized{}}, DisableStandaloneSSE: true},
		"stdio": &mcp.CommandTransport{Command: connect},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, transport, nil)
			must(t, err)
			defer session.Close()
			list, err := session.ListTools(ctx, nil)
			must(t, err)
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
			}
			if got := strings.Join(names, " "); got != "cat say sh" {
				t.Errorf("it lists %s", got)
			}
			call := func(tool string, args any) (string, bool, error) {
				r, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
				if err != nil {
					return "", false, err
				}
				return r.Content[0].(*mcp.TextContent).Text, r.IsError, nil
			}
			if text, bad, err := call("cat", map[string]any{"path": "a.txt"}); err != nil || bad || text != "text of a\n" {
				t.Errorf("cat: %q, %v, %v", text, bad, err)
			}
			if text, bad, err := call("cat", map[string]any{"path": "x.env"}); err != nil || !bad || !strings.Contains(text, `"reason":"credentials"`) {
				t.Errorf("a denied call: %q, %v, %v", text, bad, err)
			}
			if _, _, err := call("none", nil); err == nil || !strings.Contains(err.Error(), "no tool") {
				t.Errorf("an unknown tool: %v", err)
			}
			if _, _, err := call("cat", map[string]any{"path": 1}); err == nil || !strings.Contains(err.Error(), "/properties/path") {
				t.Errorf("bad arguments: %v", err)
			}
		})
	}
	if asked := b.audit("asked"); len(asked) != 8 {
		t.Errorf("the audit has %d lines", len(asked))
	}
}

// If connect cannot deliver a message, it answers with an error of the protocol.
func TestBrokerConnectSaysWhatFails(t *testing.T) {
	b := readyBroker(t, brokerTools, ofBroker{environ: brokerEnv()})
	connect := exec.Command(filepath.Join(filepath.Dir(sbxPath), "sbx-broker"), "connect")
	connect.Env = append(b.env, "SBX_BROKER_URL="+b.url, "SBX_BROKER_TOKEN=wrong")
	connect.Stdin = strings.NewReader(`{"jsonrpc": "2.0", "id": 7, "method": "tools/list"}` + "\n")
	out, err := connect.Output()
	must(t, err)
	var m map[string]any
	if json.Unmarshal(out, &m) != nil || m["id"] != 7.0 || !strings.Contains(fmt.Sprint(m["error"]), "no token") {
		t.Errorf("it says %s", out)
	}
	if bufio.NewScanner(strings.NewReader(string(out))); strings.Count(string(out), "\n") != 1 {
		t.Errorf("it says more than a line: %q", out)
	}
}

// The schema of an MCP server's tool is pinned. Its server runs once, and ends with anything that
// hangs.
func TestBrokerCallsAnMCPServer(t *testing.T) {
	needSandbox(t)
	box := newBoxElsewhere(t)
	probe := box.copyProbe(box.out + "/probe.bin")
	document := func(pin string) string {
		return fmt.Sprintf(`
version: 1
secrets: {KEY: {env: BROKER_KEY}}
tools:
  tell:
    mcp: [%s, mcp]
    tool: tell
    schema_sha256: "%s"
    args: {properties: {text: {type: string}}}
    secrets: [KEY]
    timeout: 3s
rules: [{tool: "*", verdict: allow}]
`, probe, pin)
	}
	of := ofBroker{environ: brokerEnv(), caps: []string{"secret:KEY"}}
	wrong, answer := box.broker(document(strings.Repeat("0", 64)), of)
	if answer["ready"] == nil {
		t.Fatal(answer)
	}
	r := wrong.call("tell", `{"text": "x"}`)
	r.denied(t, 502, "schema_sha256 is another")
	_, digest, _ := strings.Cut(r.text, "has the digest ")
	must(t, os.RemoveAll(wrong.dir))
	b, answer := box.broker(document(digest[:64]), of)
	if answer["ready"] == nil {
		t.Fatal(answer)
	}
	for i := range 2 {
		want := fmt.Sprintf("%d: hello <redacted>\n", i+1)
		if out := b.call("tell", `{"text": "hello"}`).stdout(t); out != want {
			t.Errorf("it tells %q, want %q", out, want)
		}
	}
	began := time.Now()
	b.call("tell", `{"text": "hang"}`).denied(t, 502, "did not end within 3s")
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	// The next call gets a new server.
	if out := b.call("tell", `{"text": "again"}`).stdout(t); out != "1: again <redacted>\n" {
		t.Errorf("it tells %q", out)
	}
	b.end()
	within(t, limit, "the servers to end", func() bool { return len(processesWith(probe+"\x00mcp")) == 0 })
}

// processesWith returns the processes whose command line contains a text.
func processesWith(text string) (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil && strings.Contains(string(line), text) {
			found = append(found, file)
		}
	}
	return found
}
