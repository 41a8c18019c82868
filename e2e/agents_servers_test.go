package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// serverConfigs has for each agent the file in which it finds its MCP servers, and the form of an
// entry: its name, its script, its file.
var serverConfigs = map[string]struct{ file, begin, one, sep, end string }{
	"claude": {".claude.json", `{"mcpServers": {`, `%q: {"type": "stdio", "command": "node", "args": [%q, %[1]q, %[3]q]}`, ", ", "}}\n"},
	"codex":  {".codex/config.toml", "", "[mcp_servers.%q]\ncommand = \"node\"\nargs = [%q, %[1]q, %[3]q]\n", "", ""},
	"gemini": {".gemini/settings.json", `{"mcpServers": {`, `%q: {"command": "node", "args": [%q, %[1]q, %[3]q]}`, ", ",
		`}, "security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false}, "general": {"enableAutoUpdate": false}}` + "\n"},
}

// withServers runs the agent by start. The agent finds the servers one and two in its own
// configuration. It returns the result, and what the servers were asked.
func (c *client) withServers(t *testing.T, more []string, start func(b *box, argv []string) result) (agentRun, string) {
	t.Helper()
	b := c.box(t)
	s := c.ready(b, "mcp")
	log := b.ws + "/mcp.log"
	how := serverConfigs[c.name]
	script, err := os.ReadFile(filepath.Join(moduleDir, "testdata", "clients", "mcp.mjs"))
	must(t, err)
	b.write("ws/mcp.mjs", string(script))
	var all []string
	for _, name := range []string{"one", "two"} {
		all = append(all, fmt.Sprintf(how.one, name, b.ws+"/mcp.mjs", log))
	}
	text := how.begin + strings.Join(all, how.sep) + how.end
	if c.name == "codex" {
		old, err := os.ReadFile(b.home + "/" + how.file)
		must(t, err)
		text = string(old) + text
	}
	b.write("home/"+how.file, text)
	r := agentRun{result: start(b, append([]string{c.name}, c.argv(t, "mcp", more...)...)), b: b}
	r.truth = s.truth()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%v", r)
		}
	})
	said, _ := os.ReadFile(log)
	return r, string(said)
}

// Without the sandbox an agent starts the servers that its own configuration names and uses all
// their tools. Inside it uses only those that the spec allows.
func (c *client) testServers(t *testing.T) {
	needSandbox(t)
	inside := func(spec string) func(b *box, argv []string) result {
		return func(b *box, argv []string) result { return b.run(spec, argv...) }
	}
	t.Run("without a sandbox", func(t *testing.T) {
		r, log := c.withServers(t, c.free, func(b *box, argv []string) result {
			return b.plain(append([]string{clientsDir() + "/bin/" + c.name}, argv[1:]...)...)
		})
		for _, did := range []string{"one started", "two started", "one ping", "one pong", "two ping"} {
			if !strings.Contains(log, did+"\n") {
				t.Errorf("no %q: %q", did, log)
			}
		}
		if r.code != 0 {
			t.Errorf("status %d", r.code)
		}
	})
	for _, w := range []struct{ name, spec, asked string }{
		{"none is allowed", specTask, ""},
		{"a tool is allowed", `{"access_mode": "workspace-write", "tools_allowed": ["Read", "Write", "Edit", "Bash", "mcp__one__ping"]}`, "one ping"},
		{"a server is denied", `{"access_mode": "workspace-write", "tools_allowed": ["Write", "Edit", "Bash", "mcp__*"], "tools_denied": ["mcp__two", "mcp__one__pong"]}`, "one ping"},
		{"all are denied", `{"access_mode": "workspace-write", "tools_denied": ["mcp__*"]}`, ""},
	} {
		t.Run(w.name, func(t *testing.T) {
			r, log := c.withServers(t, nil, inside(w.spec))
			if r.code != 0 {
				t.Errorf("status %d", r.code)
			}
			var asked []string
			for _, line := range strings.Split(log, "\n") {
				if line != "" && !strings.HasSuffix(line, " started") {
					asked = append(asked, line)
				}
			}
			if got := strings.Join(asked, ", "); got != w.asked {
				t.Errorf("the servers were asked %q, want %q", got, w.asked)
			}
			// codex does not even start a server of which it may use nothing
			if c.name == "codex" && (strings.Contains(log, "two started") || strings.Contains(log, "one started") != (w.asked != "")) {
				t.Errorf("started: %q", log)
			}
			if n := len(r.truth.Calls); n != 4 {
				t.Errorf("%d calls were asked for", n)
			}
		})
	}
}
