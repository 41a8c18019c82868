package e2e

import (
	"slices"
	"strings"
	"testing"
)

// The caller may ask codex's own sandbox, which cannot start inside sbx's, to deny something, and
// that is still denied. For writing, sbx denies it by the spec. If codex's commands should have no
// network, they get none unless the spec says so, and the record shows that.
func (c *client) testConfined(t *testing.T) {
	const ws, host = `{"access_mode": "workspace-write"}`, `{"access_mode": "workspace-write", "network": {"mode": "host"}}`
	wrote := func(r agentRun, status string) {
		t.Helper()
		if r.code != 0 {
			t.Errorf("status %d", r.code)
		}
		r.b.holds("ws/NOTE.txt", "a note\n")
		r.rec.hasStatus(t, "agent", status)
	}
	refused := func(r agentRun) {
		t.Helper()
		r.refused("network")
		if n := len(r.truth.Answers); n > 0 {
			t.Errorf("the model was asked %d times", n)
		}
	}
	wrote(c.inside(t, "task", ws, "-s", "danger-full-access"), "enforced")
	refused(c.inside(t, "task", ws, "-s", "workspace-write"))
	wrote(c.inside(t, "task", host, "-s", "workspace-write"), "degraded")
	refused(c.inside(t, "task", ws, "-c", `sandbox_mode="read-only"`))
	r := c.inside(t, "task", `{"access_mode": "workspace-write", "best_effort": ["network"]}`, "-s", "read-only")
	if r.code != 0 || r.truth.turns() != c.taskTurns() {
		t.Errorf("status %d, %d turns", r.code, r.truth.turns())
	}
	r.b.absent("ws/NOTE.txt")
	r.b.absent("out/shell.txt")
	r.rec.hasStatus(t, "readonly", "enforced")
	r.rec.hasStatus(t, "network", "degraded")
	r.rec.hasStatus(t, "agent", "degraded")
}

// If the caller's flags restrict an agent more than the spec, the agent keeps to that, although sbx
// adds flags for the spec's tools. The control is testTask.
func (c *client) testModes(t *testing.T) {
	less := map[string][][]string{
		"claude": {{"--tools", "Read,Bash"}, {"--disallowedTools", "Write"}, {"--permission-mode", "plan"}},
		"gemini": {{"--approval-mode", "plan"}},
	}
	for _, words := range less[c.name] {
		r := c.inside(t, "task", specTask, words...)
		r.says(t, "read", "A project")
		r.b.absent("ws/NOTE.txt")
		if got := r.truth.said("command"); c.name == "gemini" && strings.Contains(got, "Linux") { // claude runs harmless commands
			t.Errorf("%q: a command ran: %s", words, got)
		}
	}
}

// codex's workspace-write makes all of .git read-only, which sbx's own does not. The record then
// names the option, and no line of a document that would allow a write.
func TestConfinedGit(t *testing.T) {
	b := agentElsewhere(t)
	b.write("ws/.git/HEAD", "ref: refs/heads/main\n")
	b.write("ws/.git/refs/heads/old", "")
	b.write("ws/.git/objects/old", "")
	const online = "sandbox_workspace_write.network_access=true"
	run := func(spec, want, status string, args ...string) {
		t.Helper()
		b.agent("codex", `{"access_mode":"workspace-write"}`, "rm -f .git/x a; touch a; touch .git/x && echo wrote").ended()
		r := b.run(spec, append([]string{b.out + "/codex"}, args...)...).ended()
		if wrote := strings.Contains(r.out, "wrote"); wrote != (want == "wrote") {
			t.Errorf("%q: .git written: %v: %v", args, wrote, r)
		}
		b.holds("ws/a", "")
		r.rec.hasStatus(t, "agent", status)
		told := slices.ContainsFunc(r.rec.list("violations"), func(v record) bool {
			return strings.HasPrefix(v.text("rule"), "codex -") && v.text("target") == b.ws+"/.git/x" && v.text("allow_with") == ""
		})
		if told != (want == "not") {
			t.Errorf("%q: the violations: %v", args, r.rec["violations"])
		}
	}
	run(specWW, "wrote", "enforced", "-s", "danger-full-access")
	run(specWW, "not", "enforced", "-s", "workspace-write", "-c", online)
	run(specWith(specWW, `"network":{"mode":"host"}`), "not", "degraded", "--sandbox=workspace-write")
	run(specWith(specWW, `"filesystem":{"mounts":[{"label":"x","source":"/etc","target":"/x","mode":"ro"}]}`), "wrote", "degraded", "-s", "workspace-write", "-c", online)
}
