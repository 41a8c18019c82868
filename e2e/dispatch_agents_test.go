package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// These are real agents, from spawn to the record: the row is compared with what the model server
// saw.
func TestDispatchAgents(t *testing.T) {
	eachClient(t, func(t *testing.T, c *client) {
		t.Run("spawn", func(t *testing.T) { c.testDispatch(t, false) })
		t.Run("driver", func(t *testing.T) { c.testDispatch(t, true) })
		t.Run("contracts", c.testContracts)
		if c.name == "codex" { // the others' streams report their turns
			t.Run("turns unseen", c.testTurnsUnseen)
		}
	})
}

// If an agent's command line cannot express a contract, the contract is enforced as well as
// possible, and the record says how well; only a spec that requires all of it is refused.
func (c *client) testContracts(t *testing.T) {
	needSandbox(t)
	for _, x := range []struct {
		name, spec, field string
		codex             string // the field's status, which is observed for the others; "" if it is refused
	}{
		{"patches", `{"tools_allowed": ["Read", "Grep"], "access_mode": "workspace-write"}`, "tools_allowed", "unavailable"},
		{"patches that the kernel refuses", `{"tools_allowed": ["Read"], "access_mode": "read-only"}`, "tools_allowed", "observed"},
		{"a tool that is denied", `{"tools_denied": ["Write"], "access_mode": "workspace-write"}`, "tools_denied", "unavailable"},
		{"all of it", `{"tools_allowed": ["Read"], "access_mode": "workspace-write", "require_available": true}`, "tools_allowed", ""},
	} {
		want := "observed"
		if c.name == "codex" {
			want = x.codex
		}
		b := c.box(t)
		s := c.ready(b, "hello")
		prompt := b.write("prompt.md", scenarioPrompt(t, "hello"))
		b.intercore(39)
		b.insert("one", c.name, b.out+"/last.md", prompt, x.spec)
		cmd := b.driver(b.out+"/last.md", prompt)
		cmd.Env = append(b.env, pathBefore(b))
		b.finish(cmd)
		b.keepsContract(t, x.name, "one", x.field, want, s)
	}
}

// The turns of a codex without state on the host cannot be seen.
func (c *client) testTurnsUnseen(t *testing.T) {
	needSandbox(t)
	for more, want := range map[string]string{"": "unavailable", `, "require_available": true`: ""} {
		b := c.box(t)
		s := c.ready(b, "hello")
		must(t, os.RemoveAll(b.home+"/.codex"))
		argv := []string{"codex", "exec", "--json", "--skip-git-repo-check", "-c", "model_provider=fake",
			"-c", `model_providers.fake={name="fake", base_url="` + s.url + `/v1", env_key="OPENAI_API_KEY", wire_api="responses", supports_websockets=false}`, "go"}
		r := b.dispatch(append([]string{"spawn", "--sandbox-spec", `{"max_turns": 9, "access_mode": "workspace-write"` + more + `}`, "--"}, argv...)...)
		id := strings.TrimSpace(r.out)
		b.dispatch("wait", id, "--timeout", "55s")
		b.keepsContract(t, "turns"+more, id, "max_turns", want, s)
		b.absent("home/.codex")
	}
}

// keepsContract fails unless a dispatch completed with that status of a field or, if want is "",
// was refused because of it.
func (b *box) keepsContract(t *testing.T, name, id, field, want string, s *modelServer) {
	t.Helper()
	row, answers := b.row(id), len(s.truth().Answers)
	e := row.effective()
	switch {
	case want == "":
		if row.text("status") != "failed" || row.whole("exit_code") != 125 || e.text("state") != "refused" || e.text("error", "field") != field || answers > 0 {
			t.Errorf("%s: it was not refused: %v", name, row)
		}
	case row.text("status") != "completed" || e.status(field) != want || answers == 0:
		t.Errorf("%s: %s is %s, want %s: %v", name, field, e.status(field), want, row)
	}
}

func (c *client) testDispatch(t *testing.T, driver bool) {
	needSandbox(t)
	b := c.box(t)
	s := c.ready(b, "task")
	prompt := b.write("prompt.md", scenarioPrompt(t, "task"))
	out, id := b.out+"/last.md", "agent1"
	if driver {
		b.intercore(39)
		b.insert(id, c.name, out, prompt, specTask)
		cmd := b.driver(out, prompt)
		cmd.Env = append(b.env, pathBefore(b))
		if r := b.finish(cmd); r.code != 0 {
			t.Errorf("%v", r)
		}
	} else {
		r := b.dispatch("spawn", "--type", c.name, "--prompt-file", prompt, "--output", out, "--sandbox-spec", specTask, "--timeout", "50s")
		if r.code != 0 {
			t.Fatalf("%v", r)
		}
		id = strings.TrimSpace(r.out)
		b.dispatch("wait", id, "--timeout", "55s")
	}
	truth := s.truth()
	row := b.row(id)
	e := row.effective()
	r := agentRun{result: result{t: t, rec: e}, truth: truth, b: b}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%v\n%v", row, r)
		}
	})
	if row.text("status") != "completed" || row.text("agent_type") != c.name || row.whole("exit_code") != 0 {
		t.Errorf("status %s, exit code %d", row.text("status"), row.whole("exit_code"))
	}
	if got, want := row.whole("turns"), truth.turns(); got != want || want != c.taskTurns() {
		t.Errorf("%d turns, the server gave %d answers", got, want)
	}
	b.holds("ws/NOTE.txt", "a note\n")
	b.absent("out/shell.txt")
	if e.text("state") != "exited" || e.text("access_mode") != "workspace-write" || !r.violation("filesystem", b.out+"/shell.txt") {
		t.Errorf("%v", e)
	}
	c.matches(t, r, "denied")
	if row.whole("commands") != e.whole("commands_used") || row.whole("messages") == 0 {
		t.Errorf("%d commands and %d messages, the record has %d", row.whole("commands"), row.whole("messages"), e.whole("commands_used"))
	}
	if row.whole("in_tokens") != e.whole("agent", "tokens", "input") || row.whole("in_tokens") == 0 {
		t.Errorf("%d tokens, the record has %v", row.whole("in_tokens"), e.at("agent", "tokens"))
	}
	last, err := os.ReadFile(out)
	if err != nil || len(strings.TrimSpace(string(last))) == 0 {
		t.Errorf("the last message is %q, %v", last, err)
	}
	sum, err := os.ReadFile(out + ".summary")
	if err != nil || !strings.Contains(string(sum), "\nTokens: ") {
		t.Errorf("%q, %v", sum, err)
	}
}

func pathBefore(b *box) string {
	for _, v := range b.env {
		if p, ok := strings.CutPrefix(v, "PATH="); ok {
			return "PATH=" + p + ":" + os.Getenv("PATH")
		}
	}
	return "PATH=" + os.Getenv("PATH")
}

// Intercore itself starts the driver, waits, and shows both columns. No registry has it:
// $SBX_TEST_IC or PATH says where it is.
func TestDispatchIntercore(t *testing.T) {
	ic := os.Getenv("SBX_TEST_IC")
	if ic == "" {
		ic, _ = exec.LookPath("ic")
	}
	if ic == "" {
		t.Skip("no ic: its module is in no registry; build one from its sources and name it by SBX_TEST_IC")
	}
	needSandbox(t)
	b := newBoxElsewhere(t)
	must(t, os.Mkdir(b.ws+"/.clavain", 0o755))
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(ic, args...)
		cmd.Dir, cmd.WaitDelay = b.ws, 2*time.Second
		cmd.Env = append(b.env, "CLAVAIN_DISPATCH_SH="+moduleDir+"/scripts/dispatch.sh")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("ic %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("init")
	prompt := b.write("ws/task.sh", "/bin/true; echo done\n")
	id := run("dispatch", "spawn", "--type=sh", "--prompt-file="+prompt, "--project="+b.ws, "--output="+b.out+"/o.md", "--name=one",
		`--sandbox-spec={"access_mode":"read-only","max_turns":2}`)
	run("dispatch", "wait", id, "--timeout=30s", "--poll=100ms")
	shown := run("dispatch", "status", id, "--json")
	for _, want := range []string{`"status":"completed"`, `"sandbox_spec":{"access_mode":"read-only","max_turns":2}`, `"sandbox_effective":{"record_version":1`, `"verdict_status":"pass"`} {
		if !strings.Contains(shown, want) {
			t.Errorf("%s lacks %s", shown, want)
		}
	}
	b.write("ws/slow.sh", "sleep 60\n")
	// It ends what its own spawn has started, and what sbx has started.
	for _, id := range []string{run("dispatch", "spawn", "--type=sh", "--prompt-file=slow.sh", "--output="+b.out+"/s.md"),
		strings.TrimSpace(b.dispatch("spawn", "--", "sh", "slow.sh").out)} {
		within(t, limit/2, "it runs", func() bool { return strings.Contains(run("dispatch", "poll", id, "--json"), `"commands":1`) })
		if got := run("dispatch", "kill", id); got != "killed" {
			t.Errorf("%q", got)
		}
		if row := b.row(id); row.text("status") != "cancelled" || row.effective().text("state") != "exited" {
			t.Errorf("%v", row)
		}
	}
	// Intercore finds nothing wrong with what sbx left.
	run("health")
}
