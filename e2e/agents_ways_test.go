package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// way is a way to start an agent other than by its name.
type way struct {
	name  string
	words func(b *box) []string
}

// ways has for each agent the other ways to start it: what npm puts on the PATH, a script for node,
// another name of its file, npx.
var ways = map[string][]way{
	"claude": {{"a link with another name", func(b *box) []string {
		must(b.t, os.Symlink(clientsDir()+"/bin/claude", b.base+"/helper"))
		return []string{b.base + "/helper"}
	}}},
	"codex": {{"env and its launcher", func(b *box) []string {
		return []string{"env", "A=b", clientsDir() + "/launchers/codex"}
	}}, {"npx", func(b *box) []string {
		// the form of npm install -g, in a place where no command writes
		must(b.t, os.Mkdir(b.base+"/global", 0o755))
		must(b.t, os.Mkdir(b.base+"/global/lib", 0o755))
		must(b.t, os.Symlink(clientsDir()+"/node_modules", b.base+"/global/lib/node_modules"))
		must(b.t, os.Symlink(clientsDir()+"/launchers", b.base+"/global/bin"))
		b.env = append(b.env, "NPM_CONFIG_PREFIX="+b.base+"/global")
		return []string{"npx", "--offline", "codex"}
	}}},
	"gemini": {{"node and its script", func(b *box) []string {
		script, err := filepath.EvalSymlinks(clientsDir() + "/bin/gemini")
		must(b.t, err)
		return []string{"node", script}
	}}},
}

// An agent is recognised however it is started, and the added flags stand where it accepts them.
func (c *client) testWays(t *testing.T) {
	needSandbox(t)
	for _, w := range ways[c.name] {
		t.Run(w.name, func(t *testing.T) {
			if w.name == "npx" {
				needPrograms(t, "npx")
			}
			b := c.box(t)
			s := c.ready(b, "hello")
			r := agentRun{result: b.run(specTask, append(w.words(b), c.argv(t, "hello")...)...), b: b}
			r.truth = s.truth()
			if r.code != 0 || r.truth.turns() != 1 {
				t.Errorf("status %d, %d turns", r.code, r.truth.turns())
			}
			c.matches(t, r)
			argv, _ := r.rec.at("command", "argv").([]any)
			asked, _ := r.rec.at("command", "asked").([]any)
			if len(argv) <= len(asked) || len(asked) == 0 || !slices.Equal(argv[len(argv)-len(c.words):], asked[len(asked)-len(c.words):]) {
				t.Errorf("argv %q, asked %q", argv, asked)
			}
			if t.Failed() {
				t.Logf("%v", r)
			}
		})
	}
}

// If an agent's command line cannot withhold a tool, the spec is refused; if the document accepts
// that, sbx sees the tool's use.
func (c *client) testLack(t *testing.T) {
	spec := `{"access_mode": "workspace-write", "tools_allowed": ["Read", "Bash"]`
	r := c.inside(t, "task", spec+`}`)
	r.refused("tools_allowed")
	if n := len(r.truth.Answers); n > 0 {
		t.Errorf("the model was asked %d times", n)
	}
	r = c.inside(t, "task", spec+`, "best_effort": ["tools_allowed"]}`)
	if r.code != 0 {
		t.Errorf("status %d", r.code)
	}
	r.rec.hasStatus(t, "tools_allowed", "unavailable")
	if !r.violation("tool", "/NOTE.txt") {
		t.Error("no violation for the patch")
	}
	c.matches(t, r, "denied")
}
