package e2e

import (
	"os"
	"strings"
	"testing"
)

// newProject returns a box with an agent and a file next to its project.
func newProject(t *testing.T) *actor {
	t.Helper()
	a := newActor(t, "claude", "claude-basic.jsonl")
	a.write("beside", "beside\n")
	a.write("home/note", "note\n")
	return a
}

// profiled runs a script as the agent would, under a profile.
func (a *actor) profiled(profile, script string) result {
	a.t.Helper()
	a.args = []string{"--profile", profile, "--best-effort", "tools_allowed"}
	return a.run("", "/bin/sh", "-c", script+"\necho end")
}

// Under a profile only the project is in view, for any command.
func TestProfileShowsItsProjectAlone(t *testing.T) {
	a := newProject(t)
	const script = "cat ../beside; cat ~/note; cat stream >/dev/null && echo project; touch new && echo written"
	r := a.profiled("write", script).ended()
	if r.out != "project\nwritten\nend\n" || os.Remove(a.ws+"/new") != nil || r.rec.text("profile", "name") != "write" {
		t.Errorf("%v", r)
	}
	// The control.
	if r := a.plain("/bin/sh", "-c", script); !strings.Contains(r.out, "beside\nnote\nproject\nwritten\n") {
		t.Errorf("%v", r)
	}
}

// The design profile makes the directories that it writes, and says so.
func TestDesignMakesItsDirs(t *testing.T) {
	a := newProject(t)
	a.write("ws/README.md", "read me\n")
	r := a.profiled("design", "echo plan >docs/plan.md; echo logo >design/logo.svg; echo changed >README.md; touch new.md && echo new").ended()
	if strings.Contains(r.out, "new") || !strings.Contains(r.err, "docs") || !strings.Contains(r.err, "design") {
		t.Errorf("%v", r)
	}
	a.holds("ws/docs/plan.md", "plan\n")
	a.holds("ws/design/logo.svg", "logo\n")
	a.holds("ws/README.md", "changed\n")
	a.absent("ws/new.md")
	if r = a.profiled("design", "true").ended(); r.err != "" {
		t.Errorf("once they are there nothing is said: %v", r)
	}
	// It does not make them if nothing runs.
	b := newProject(t)
	b.args = []string{"--profile", "design", "--best-effort", "tools_allowed", "--dry-run"}
	if r := b.run("", "true"); r.code != 0 {
		t.Errorf("%v", r)
	}
	b.absent("ws/docs")
}

// An agent under its profile gets the profile's flags, and the kernel enforces the profile's view.
func TestAgentUnderAProfile(t *testing.T) {
	a := newProject(t)
	a.args = []string{"--profile", "read-only"}
	r := a.run("", a.as("")...)
	// It cannot note its arguments, because the project is read-only.
	if r.out != a.stream || a.given() != nil {
		t.Fatalf("%q: %v", a.given(), r)
	}
	argv := texts(r.rec.at("command", "argv"))
	if !strings.HasPrefix(argv, `["`+a.out+`/claude","--allowedTools","Read","Grep","Glob",`) || !strings.Contains(argv, `"--permission-mode","default"`) {
		t.Errorf("%s", argv)
	}
	a.args = []string{"--profile", "read-only"}
	a.run("", a.as("", "--permission-mode", "bypassPermissions")...).refused("tools_allowed")
}

// In a home that is a workspace, the file from which sbx reads the user's own profiles is
// protected: a change would widen the next sandbox.
func TestTheUsersProfilesAreProtected(t *testing.T) {
	needSandbox(t)
	const plainly = `mkdir -p .config/sbx; echo "profiles: {}" >.config/sbx/profiles.yaml
`
	ways := []string{plainly, `mkdir -p new/sbx; echo "profiles: {}" >new/sbx/profiles.yaml; rm -rf .config/sbx; mkdir .config; mv new/sbx .config/sbx`,
		`mkdir -p new/sbx; echo "profiles: {}" >new/sbx/profiles.yaml; mv .config old; mv new .config`}
	for name, make := range map[string]func(b *box){
		"there":   func(b *box) { b.write("home/.config/sbx/profiles.yaml", "points: {}\n") },
		"missing": func(b *box) { must(b.t, os.Mkdir(b.home+"/.config", 0o755)) },
		"nothing": func(*box) {},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBoxElsewhere(t)
			make(b)
			b.ws = b.home
			for _, way := range ways {
				b.sh(`{"access_mode": "workspace-write"}`, way).ended()
				if text, err := os.ReadFile(b.home + "/.config/sbx/profiles.yaml"); err == nil && string(text) != "points: {}\n" {
					t.Errorf("the next run reads %q by %s", text, way)
				}
				must(t, os.RemoveAll(b.home+"/new"))
			}
			// The spec can make it writable, as the hint says.
			b.sh(`{"access_mode": "workspace-write", "filesystem": {"write": [".config/sbx", ".config"]}}`, plainly).ended()
			b.holds("home/.config/sbx/profiles.yaml", "profiles: {}\n")
		})
	}
}
