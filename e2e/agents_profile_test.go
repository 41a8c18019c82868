package e2e

import (
	"path/filepath"
	"testing"
)

// Under profile write a real claude writes because its flags grant it, in its default permission
// mode; without the grant it does not.
func (c *client) testProfile(t *testing.T) {
	needSandbox(t)
	program, err := filepath.EvalSymlinks(clientsDir() + "/bin/" + c.name) // the directory of links is not in view
	must(t, err)
	run := func(spec string) agentRun {
		t.Helper()
		b := c.box(t)
		s := c.ready(b, "task")
		r := agentRun{result: b.run(spec, append([]string{program}, c.argv(t, "task")...)...), b: b}
		if r.truth = s.truth(); r.code != 0 || r.truth.turns() != c.taskTurns() {
			t.Errorf("%v", r)
		}
		return r
	}
	run(`{"profile": "write"}`).b.holds("ws/NOTE.txt", "a note\n")
	run(`{"profile": "write", "tools_allowed": ["Read"]}`).b.absent("ws/NOTE.txt")
}
