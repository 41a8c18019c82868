package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// profile runs `sbx profile` in the box's workspace.
func (b *box) profile(env []string, args ...string) result {
	b.t.Helper()
	cmd := exec.Command(sbxPath, append([]string{"profile"}, args...)...)
	cmd.Dir, cmd.Env = b.ws, append(append([]string{}, b.env...), env...)
	return b.finish(cmd)
}

// profileSpec returns the spec of a profile in the workspace, without the fields about the agent's
// tools, which are for the agent's command line.
func (b *box) profileSpec(name string) string {
	b.t.Helper()
	r := b.profile(nil, "show", name, "--json")
	var shown struct{ Spec map[string]any }
	if err := json.Unmarshal([]byte(r.out), &shown); err != nil || r.code != 0 {
		b.t.Fatalf("%v: %v", err, r)
	}
	delete(shown.Spec, "tools_allowed")
	text, err := json.Marshal(shown.Spec)
	must(b.t, err)
	return string(text)
}

// What a profile promises of files, held by the kernel whatever the command is. Without it
// everything succeeds. What the others promise is profile.TestMeaning's.
func TestProfilesAreHeld(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.write(b.base+"/beside.txt", "BESIDE")
		b.write(b.ws+"/main.go", "code")
		b.write(b.ws+"/README.md", "text")
		b.write(b.home+"/note", "NOTE")
		for _, d := range []string{"/docs", "/design"} {
			must(t, os.Mkdir(b.ws+d, 0o755))
		}
		want := map[string]string{
			"read|../beside.txt":                              "ENOENT",
			"read|" + b.home + "/note":                        "ENOENT",
			"read|" + b.ws + "/main.go":                       "read:code",
			"write|" + b.ws + "/main.go":                      "EROFS",
			"create|" + b.ws + "/new.md":                      "EROFS",
			"write|" + b.ws + "/README.md":                    "ok",
			"create|" + b.ws + "/docs/a.md":                   "ok",
			"create|" + b.ws + "/docs/b.md":                   "ok",
			"rename|" + b.ws + "/docs/b.md|" + b.ws + "/b.md": "EXDEV",
		}
		attempts := slices.Sorted(maps.Keys(want))
		got := b.tries(b.profileSpec("design"), attempts...)
		for attempt, is := range want {
			if got[attempt] != is {
				t.Errorf("%s is %s, want %s", attempt, got[attempt], is)
			}
		}
		must(t, os.Remove(b.ws+"/docs/a.md"))
		must(t, os.Remove(b.ws+"/docs/b.md"))
		for attempt, is := range b.control(attempts...) {
			if is != "ok" && !strings.HasPrefix(is, "read:") {
				t.Errorf("without a profile, %s is %s", attempt, is)
			}
		}
	})
}

// Directories that a profile writes and that lead out of the project are refused.
func TestProfileStaysInTheProject(t *testing.T) {
	b := newBox(t)
	must(t, os.Symlink(b.out, b.ws+"/docs"))
	r := b.profile(nil, "show", "design")
	if r.code != 1 || !strings.Contains(r.err, "leads out of the project") {
		t.Error(r)
	}
}

// The command has these exit statuses and outputs.
func TestProfileVerb(t *testing.T) {
	b := newBox(t)
	b.write(b.ws+"/agents/reviewer.md", "---\nname: code-reviewer\ntools: Read, Grep\n---\nLook.\n")
	b.write(b.ws+"/agents/empty.md", "---\nname: stranger\n---\nLook.\n")
	off := []string{"ORCHESTRATOR_SANDBOX_ENABLED=false"}
	const reading = "--allowedTools Read Grep --tools Read,Grep --disallowedTools Write Edit NotebookEdit Bash WebFetch WebSearch Task --strict-mcp-config --add-dir "
	for _, c := range []struct {
		env      []string
		args     string
		code     int
		out, err string // err: what stderr contains; "" for nothing at all
	}{
		{nil, "flags agents/reviewer.md", 0, reading + b.ws + " --permission-mode default\n", ""},
		{nil, "flags agents/reviewer.md --project " + b.home, 0, reading + b.home + " --permission-mode default\n", ""},
		{nil, "flags agents/reviewer.md --json -v", 0, `["--allowedTools","Read","Grep",`, "sbx: profile read-only: code-reviewer is one of its agents (built in)\nsbx: tools: those of agents/reviewer.md\n"},
		{off, "flags coder", 0, "--dangerously-skip-permissions\n", "sbx: ORCHESTRATOR_SANDBOX_ENABLED=false: profiles are off\n"},
		{off, "flags coder --json", 0, "[\"--dangerously-skip-permissions\"]\n", "profiles are off"},
		{off, "flags coder --agent codex", 0, "--dangerously-bypass-approvals-and-sandbox\n", "profiles are off"},
		{off, "flags coder --agent gemini", 0, "--approval-mode yolo\n", "profiles are off"},
		{[]string{"ORCHESTRATOR_SANDBOX_ENABLED=0"}, "flags agents/reviewer.md", 0, reading, "neither true nor false"},
		{[]string{"ORCHESTRATOR_SANDBOX_ENABLED=true"}, "flags agents/reviewer.md", 0, reading, ""},
		{nil, "flags question", 0, "--allowedTools Read Grep Glob \"Bash(git log:*)\"", ""},
		{nil, "flags --point question", 0, "--allowedTools Read Grep Glob \"Bash(git log:*)\"", ""},
		{nil, "flags coder --point question", 0, "--allowedTools Read Grep Glob \"Bash(git log:*)\"", ""},
		{nil, "flags coder --agent codex", 0, "-s workspace-write ", "codex's flags do not hold Bash"},
		{nil, "flags code-reviewer --agent codex --inside", 0, "-s danger-full-access ", "codex"},
		{nil, "flags nobody", 1, "", "no profile has an agent of that name"},
		{nil, "flags code-reviwer", 1, "", "did you mean code-reviewer?"},
		{nil, "flags agents/empty.md", 1, "", "front matter has no tools"},
		{nil, "flags agents/none.md", 1, "", "no such file"},
		{nil, "flags coder --point nowhere", 1, "", "no"},
		{nil, "flags task", 1, "", "no agent is named"},
		{nil, "flags coder --project /nowhere", 1, "", "no such file"},
		{nil, "show nothing", 1, "", "known: read-only, write, verification, design"},
		{nil, "show READ_ONLY", 0, "profile read-only: ", ""},
		{nil, "list", 0, "read-only     reads", ""},
		{nil, "list --json", 0, `{"profiles":[{"name":"read-only"`, ""},
		{nil, "", 2, "", "want list"},
		{nil, "flags", 2, "", "want list"},
		{nil, "list x", 2, "", "want list"},
		{nil, "flags coder --agent vim", 2, "", "claude, codex or gemini"},
		{nil, "flags coder --agent none", 2, "", "claude, codex or gemini"},
		{nil, "flags coder --colour", 2, "", "no flag"},
	} {
		r := b.profile(c.env, strings.Fields(c.args)...)
		if r.code != c.code || !strings.HasPrefix(r.out, c.out) || c.out == "" && r.out != "" ||
			!strings.Contains(r.err, c.err) || c.err == "" && r.err != "" {
			t.Errorf("profile %s: %v", c.args, r)
		}
	}
}

// The user's own file adds and a project's only takes away; an error names the line in either.
func TestProfileFiles(t *testing.T) {
	b := newBox(t)
	flags := func() result { b.t.Helper(); return b.profile(nil, "flags", "builder", "-v") }
	if r := flags(); r.code != 1 {
		t.Error(r)
	}
	user := b.write(b.home+"/.config/sbx/profiles.yaml", "profiles:\n  write:\n    agents: [builder]\n    bash_policy: [\"make:*\"]\n")
	if r := flags(); r.code != 0 || !strings.Contains(r.out, `"Bash(make:*)"`) || !strings.Contains(r.err, user) {
		t.Error(r)
	}
	project := b.write(b.ws+"/.sbx/profiles.yaml", "profiles:\n  write:\n    allowed_tools: [Read]\n    spec: {access_mode: read-only}\n")
	if r := flags(); r.code != 0 || strings.Contains(r.out, "make") || !strings.HasPrefix(r.out, "--allowedTools Read --tools Read ") {
		t.Error(r)
	}
	b.write(project, "profiles:\n  write:\n    bash_policy: [\"make:*\", \"curl:*\"]\n")
	if r := flags(); r.code != 1 || !strings.Contains(r.err, project+":3:18") || !strings.Contains(r.err, "write has no Bash(curl:*)") {
		t.Error(r)
	}
	b.write(project, "profiles:\n  write:\n    spec: {access_mode: danger-full-access}\n")
	if r := flags(); r.code != 1 || !strings.Contains(r.err, project+":3:25") {
		t.Error(r)
	}
	b.write(project, "profiles: [\n")
	if r := flags(); r.code != 1 || !strings.Contains(r.err, project+":1:11") {
		t.Error(r)
	}
}
