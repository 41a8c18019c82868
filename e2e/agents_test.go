package e2e

import (
	"context"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// These are the real agents, offline. The record is compared with what the model server saw.
func TestAgents(t *testing.T) {
	eachClient(t, func(t *testing.T, c *client) {
		t.Run("without a sandbox", c.testPlain)
		t.Run("a task", c.testTask)
		t.Run("programs", c.testCounted)
		t.Run("programs of its own", c.testOwnPrograms)
		t.Run("turns", byOneUser(c.testTurns))
		t.Run("in parallel", byOneUser(c.testParallel))
		t.Run("a sub-agent", byOneUser(c.testSubagent))
		t.Run("an error of the service", byOneUser(c.testError))
		t.Run("a signal", c.testSignal)
		t.Run("ways to start it", byOneUser(c.testWays))
		t.Run("servers of its own", byOneUser(c.testServers))
		if c.name == "claude" {
			t.Run("a profile that writes", byOneUser(c.testProfile))
		}
		if c.name == "codex" { // the others can withhold every tool
			t.Run("a tool that it cannot withhold", byOneUser(c.testLack))
			t.Run("its own sandbox", c.testConfined)
		} else {
			t.Run("tools that are denied", byOneUser(c.testDenied))
			t.Run("modes of its own", byOneUser(c.testModes))
		}
	})
}

// byOneUser leaves a test to the ordinary user's part of a run, if there is one: the test compares
// the agent's own flags, stream and configuration with the record, which do not depend on the user.
// Tests of what the kernel does to an agent run as both users.
func byOneUser(test func(t *testing.T)) func(t *testing.T) {
	return func(t *testing.T) {
		if isRoot() && os.Getenv("SBX_TEST_USER_FOLLOWS") == "1" {
			t.Skip("the ordinary user's part of the run has it")
		}
		test(t)
	}
}

// inside runs the agent under sbx exec.
func (c *client) inside(t *testing.T, scenario, spec string, more ...string) agentRun {
	t.Helper()
	needSandbox(t)
	b := c.box(t)
	s := c.ready(b, scenario)
	r := agentRun{result: b.run(spec, append([]string{c.name}, c.argv(t, scenario, more...)...)...), b: b}
	r.truth = s.truth()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%v", r)
		}
	})
	return r
}

// The control of everything that the sandbox denies to agents: without it they read, write, run
// commands, write outside and delegate a part, and the server sees the scenario's turns.
func (c *client) testPlain(t *testing.T) {
	r := c.plain(t, "task")
	if r.code != 0 {
		t.Fatalf("%v", r)
	}
	if got, want := r.truth.turns(), c.taskTurns(); got != want {
		t.Errorf("%d turns, want %d", got, want)
	}
	r.b.holds("ws/NOTE.txt", "a note\n")
	r.b.holds("out/shell.txt", "leaked\n")
	if c.name != "gemini" { // its file tools stay in the workspace by themselves
		r.b.holds("out/tool.txt", "leaked\n")
	}
	r.says(t, "read", "A project")
	r.says(t, "command", "a note")
	r.says(t, "outside", "went out")
	if call := r.truth.call("denied"); call == nil || call.Result == nil || call.Result.Error || strings.Contains(call.Result.Text, "unsupported") {
		t.Error("the part was not handed on")
	}
	if t.Failed() {
		t.Logf("%v", r)
	}
}

// taskTurns returns how often the model answers in the task.
func (c *client) taskTurns() int {
	if c.name == "gemini" {
		return 6
	}
	return 7
}

// says fails unless a call's result has these words.
func (r agentRun) says(t *testing.T, name, words string) {
	t.Helper()
	if got := r.truth.said(name); !strings.Contains(got, words) {
		t.Errorf("%s came to %q, want %q in it", name, got, words)
	}
}

// specTask allows everything that the task needs except a sub-agent.
const specTask = `{"access_mode": "workspace-write", "tools_allowed": ["Read", "Write", "Edit", "Bash"]}`

// Reads, writes and commands in the workspace work as without the sandbox. Writing outside, and a
// tool that the spec lacks, are denied.
func (c *client) testTask(t *testing.T) {
	r := c.inside(t, "task", specTask)
	if r.code != 0 {
		t.Errorf("status %d", r.code)
	}
	if got, want := r.truth.turns(), c.taskTurns(); got != want {
		t.Errorf("%d turns, want %d", got, want)
	}
	r.b.holds("ws/NOTE.txt", "a note\n")
	r.says(t, "read", "A project")
	r.says(t, "command", "a note")
	r.b.absent("out/shell.txt")
	r.b.absent("out/tool.txt")
	r.says(t, "outside", "stayed in")
	if !r.violation("filesystem", r.b.out+"/shell.txt") {
		t.Error("no violation for what the shell wrote outside")
	}
	if r.truth.call("outside-tool") != nil && !r.violation("filesystem", "/tool.txt") {
		t.Error("no violation for what the tool wrote outside")
	}
	if slices.ContainsFunc(r.truth.Answers, func(a answer) bool { return a.Thread == "part" }) {
		t.Error("the sub-agent was started")
	}
	if !r.violation("tool", "") {
		t.Error("no violation for the tool that is not allowed")
	}
	r.rec.hasStatus(t, "network", "enforced")
	c.matches(t, r, "denied")
	c.paid(t, r)
}

// At max_turns sbx ends the agent as its next turn begins.
func (c *client) testTurns(t *testing.T) {
	r := c.inside(t, "loop", `{"access_mode": "workspace-write", "max_turns": 3}`, c.free...)
	if r.code != 124 || r.rec.text("exit", "ended_by") != "max_turns" {
		t.Errorf("status %d, exit %v", r.code, r.rec["exit"])
	}
	if n := r.truth.turns(); n != 4 {
		t.Errorf("the model answered %d times, want 4", n)
	}
	r.b.holds("ws/LOG", "1\n2\n3\n")
	if !r.violation("limit", "") {
		t.Error("no violation for the turn that is too many")
	}
	c.matches(t, r)
}

// Calls that the model requests at once are one turn.
func (c *client) testParallel(t *testing.T) {
	r := c.inside(t, "parallel", `{"access_mode": "workspace-write"}`, c.free...)
	if r.code != 0 || r.truth.turns() != 2 {
		t.Errorf("status %d, %d turns", r.code, r.truth.turns())
	}
	r.b.holds("ws/ONE", "one\n")
	r.b.holds("ws/TWO", "two\n")
	c.matches(t, r)
	c.paid(t, r)
}

// The kernel restricts and counts what a sub-agent does, whatever its parent's stream shows.
func (c *client) testSubagent(t *testing.T) {
	r := c.inside(t, "subagent", `{"access_mode": "workspace-write"}`, c.free...)
	if r.code != 0 {
		t.Errorf("status %d", r.code)
	}
	r.b.holds("ws/PARENT", "parent\n")
	r.b.holds("ws/CHILD", "child\n")
	c.matches(t, r)
	c.paid(t, r)
}

// An error of the service is not a turn, and the status is the agent's own.
func (c *client) testError(t *testing.T) {
	r := c.inside(t, "api-error", `{"access_mode": "workspace-write"}`, c.free...)
	if want := map[string]int{"claude": 1, "codex": 1, "gemini": 144}[c.name]; r.code != want {
		t.Errorf("status %d, want %d", r.code, want)
	}
	if r.truth.turns() != 1 {
		t.Errorf("%d turns", r.truth.turns())
	}
	c.matches(t, r)
}

// An agent that is ended while it runs a command leaves nothing behind; without sbx gemini would
// leave the command. Since gemini continues after SIGTERM, with a sandbox or without, in its case
// the test kills the supervisor.
func (c *client) testSignal(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "python3")
	b := c.box(t)
	s := c.ready(b, "slow")
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	p := b.launch(b.command(ctx, `{"access_mode": "workspace-write"}`, append([]string{c.name}, c.argv(t, "slow", c.free...)...)...), cancel)
	p.stdin.Close() // codex reads it to its end first
	within(t, limit/2, "the command is started", func() bool { return len(withArg(b.ws)) > 0 })
	sig := syscall.SIGTERM
	if c.name == "gemini" {
		sig = syscall.SIGKILL
	}
	must(t, p.cmd.Process.Signal(sig))
	begun := time.Now()
	code := p.wait()
	if late := time.Since(begun); late > 15*time.Second {
		t.Errorf("it took %v to end", late)
	}
	eventually(t, "nothing is left", func() bool { return len(withArg(b.ws)) == 0 })
	b.absent("ws/OVER")
	r := agentRun{result: result{t: t, code: code, out: strings.Join(p.out.all(), "\n"), err: p.err.String()}, b: b, truth: s.truth()}
	r.rec, _ = readRecord(b.rec)
	if sig == syscall.SIGTERM {
		if code == 0 || r.rec.text("state") != "exited" || r.rec.whole("agent", "turns") != 1 {
			t.Errorf("status %d, state %s", code, r.rec.text("state"))
		}
	}
	if t.Failed() {
		t.Logf("%v", r)
	}
}
