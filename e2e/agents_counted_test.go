package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// For a whole agent, the programs of its own and those of its tools are counted as strace counts
// them inside the same sandbox. sbx takes strace for the command, so the document lists what an
// agent would get automatically.
func (c *client) testCounted(t *testing.T) {
	needSandbox(t)
	strace := needPrograms(t, "strace")
	b := c.box(t)
	s := c.ready(b, "task")
	spec := fmt.Sprintf(`{"access_mode": "workspace-write", "network": {"mode": "host"}, "environment": {"pass": ["*"]}, "filesystem": {"write": [%s, %s]}}`,
		quoted(b.home), quoted(b.home+"/."+c.name)) // which is a protected name unless the spec names it
	log := b.ws + "/strace.log"
	words := []string{strace, "-f", "-qq", "-e", "trace=execve,execveat", "-e", "signal=none", "-o", log, "--", c.name}
	r := agentRun{result: b.run(spec, append(words, c.argv(t, "task", c.free...)...)...), b: b}
	r.truth = s.truth()
	text, err := os.ReadFile(log)
	must(t, err)
	started, cut := 0, 0
	for line := range strings.Lines(string(text)) {
		switch line = strings.TrimSpace(line); {
		case !execEnd.MatchString(line):
		case strings.HasSuffix(line, "= 0"):
			started++
		case strings.HasSuffix(line, "= ?"): // its process was killed meanwhile, as codex kills a git that it needs no more
			cut++
		}
	}
	// strace must have seen at least the programs that the tools start.
	if r.code != 0 || r.truth.turns() != c.taskTurns() || started < 6 {
		t.Errorf("status %d, %d turns, %d programs", r.code, r.truth.turns(), started)
	}
	if got := r.rec.whole("commands_used"); got < started || got > started+cut {
		t.Errorf("commands_used %d, strace %d and %d that were cut off\n%v", got, started, cut, r.rec["commands"])
	}
	if t.Failed() {
		t.Logf("%v", r)
	}
}

// A denied tool is withheld, and no other: by a pattern with a star, and by the agent's own name of
// the tool. Without the denial the agent uses both tools.
func (c *client) testDenied(t *testing.T) {
	read, task := c.tools["read"], c.tools["task"]
	control := c.inside(t, "task", `{"access_mode": "workspace-write"}`).rec.uses()
	if control[read].ran != 1 || control[task].ran != 1 {
		t.Fatalf("nothing is denied: %v", control)
	}
	r := c.inside(t, "task", `{"access_mode": "workspace-write", "tools_denied": [`+quoted(read)+`, "Ta*"]}`)
	if got := r.rec.uses(); r.code != 0 || got[read] != (use{1, 0, 1}) || got[task] != (use{1, 0, 1}) {
		t.Errorf("status %d, %v", r.code, got)
	}
	r.rec.hasStatus(t, "tools_denied", "observed")
}
