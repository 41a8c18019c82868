package e2e

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// One line reports what an agent gets, in every run, also if stdout and stderr are the same pipe,
// but not with -q. Other programs get nothing.
func TestAgentsAreTold(t *testing.T) {
	b := agentElsewhere(t)
	b.env = append(b.env, "ANTHROPIC_API_KEY=k", "CODEX_API_KEY=k")
	told := func(err string) (lines []string) {
		for line := range strings.Lines(err) {
			if strings.HasPrefix(line, "sbx: ") && strings.Contains(line, " gets ") {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
		return lines
	}
	for _, row := range []struct{ name, spec, want string }{
		{"claude", specWW, "sbx: claude gets the network of api.anthropic.com and 3 more, ANTHROPIC_API_KEY and ~/.claude"},
		{"codex", specWW, "sbx: codex gets the network of api.openai.com and 2 more, CODEX_API_KEY and ~/.codex"},
		{"claude", `{"access_mode":"read-only","network":{"mode":"none"}}`, "sbx: claude gets ANTHROPIC_API_KEY and ~/.claude"},
		{"claude", `{"access_mode":"workspace-write","environment":{"pass":["PATH","HOME"]},"filesystem":{"hide":["~/.claude"]}}`, "sbx: claude gets the network of api.anthropic.com and 3 more"},
		{"gemini", specWW, "sbx: gemini gets the network of generativelanguage.googleapis.com and 4 more"},
		{"claude", `{"access_mode":"workspace-write","agent":"none"}`, ""},
		{"claude", `{}`, ""},
		{"claudius", specWW, ""},
	} {
		r := b.agent(row.name, row.spec, "true").ended()
		if got := strings.Join(told(r.err), "|"); got != row.want {
			t.Errorf("%s under %s: %q, want %q", row.name, row.spec, got, row.want)
		}
	}
	b.args = append(b.args, "-q")
	if r := b.agent("claude", specWW, "true").ended(); r.err != "" {
		t.Errorf("-q: %v", r)
	}
	cmd := exec.Command("sh", "-c", `"$@" 2>&1 | cat`, "sh", sbxPath, "exec", "--spec-json", specWW, "--", b.out+"/claude")
	cmd.Dir, cmd.Env = b.ws, b.env
	if out, err := cmd.Output(); err != nil || len(told(string(out))) != 1 || !strings.HasSuffix(string(out), "\nend\n") {
		t.Errorf("one pipe for both: %q, %v", out, err)
	}
}

// sbx warns about those parts of an agent's own configuration that will fail in the sandbox, or end
// with it, and about no others.
func TestAgentsAreAdvised(t *testing.T) {
	b := agentElsewhere(t)
	says := func(name, want string, yes bool, args ...string) {
		t.Helper()
		b.agent(name, specWW, "true").ended() // makes the program
		if r := b.run(specWW, append([]string{b.out + "/" + name}, args...)...).ended(); strings.Contains(r.err, want) != yes {
			t.Errorf("%s %q: %q in it is %v: %v", name, args, want, !yes, r)
		}
	}
	const own = "claude's own sandbox is on"
	says("claude", own, false)
	b.write("home/.claude/settings.json", `{"sandbox": {"enabled": true}}`)
	path := slices.IndexFunc(b.env, func(v string) bool { return strings.HasPrefix(v, "PATH=") })
	b.env[path] = "PATH=" + b.out + "/tools:" + strings.TrimPrefix(b.env[path], "PATH=")
	b.write("out/tools/bwrap", "")
	b.write("out/tools/socat", "")
	says("claude", own+" (~/.claude/settings.json)", true)
	says("claude", own, false, "--settings", `{"sandbox": {"enabled": false}}`)
	b.write("ws/.claude/settings.json", `{"sandbox": {"enabled": false}}`)
	says("claude", own, false)
	says("claude", own+" (--settings)", true, "--settings", `{"sandbox": {"enabled": true}}`)
	says("codex", "is not there", false)
	b.env = append(b.env, "CODEX_HOME="+b.home+"/moved")
	says("codex", "codex's directory ~/moved is not there", true)
}

// On a terminal it also warns that a sign-in, and an answer about trust, end with the sandbox.
func TestAgentsAreAdvisedOnATerminal(t *testing.T) {
	b := agentElsewhere(t)
	b.agent("claude", specWW, "true").ended()
	says := func(want string, yes bool, args ...string) {
		t.Helper()
		x := b.onTerminal(append([]string{sbxPath, "exec", "--spec-json", specWW, "--", b.out + "/claude"}, args...)...)
		x.expect("\nend") // and nothing about it
		if got := x.all(); strings.Contains(got, want) != yes {
			t.Errorf("%q: %q in it is %v: %s", args, want, !yes, got)
		}
	}
	const login, trust = "a /login in the sandbox ends with it", "is trusted"
	says(login, true)
	says(trust, true)
	says(trust, false, "-p", "x")
	b.write("home/.claude.json", `{"projects": {`+quoted(b.base)+`: {"hasTrustDialogAccepted": true}}}`)
	b.write("home/.claude/.credentials.json", "{}")
	says(login, false)
	says(trust, false)
}
