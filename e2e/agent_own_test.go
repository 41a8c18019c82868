package e2e

import (
	"os"
	"strings"
	"testing"
	"time"
)

// The files of its own that an agent writes are the host's, whatever the access mode. It cannot
// write those of them that could later run code on the host.
func TestAgentOwnState(t *testing.T) {
	for _, spec := range []string{specWW, specRO, `{"access_mode": "read-only", "filesystem": {"read": ["@system", "."]}}`} {
		eachPlace(t, func(t *testing.T, b *box) {
			needSandbox(t)
			b.furnish()
			c := b.home + "/.codex"
			attempts := []string{
				"create|" + c + "/new", "append|" + c + "/log", "mkdir|" + c + "/sessions",
				"write|" + c + "/config.toml", "append|" + c + "/config.toml", "truncate|" + c + "/config.toml", "unlink|" + c + "/config.toml",
				"chmod|" + c + "/config.toml", "rename|" + c + "/config.toml|" + c + "/old", "rename|" + c + "/new|" + c + "/config.toml",
				"exchange|" + c + "/new|" + c + "/config.toml", "link|" + c + "/config.toml|" + c + "/linked",
				"create|" + c + "/skills/more", "rename|" + c + "/skills|" + c + "/skills2", "write|" + c + "/skills/s/SKILL.md",
				"rename|" + c + "|" + b.home + "/codex2",
				"create|" + c + "/hooks.json", "rename|" + c + "/new|" + c + "/hooks.json", "symlink|x|" + c + "/hooks.json", "link|" + c + "/new|" + c + "/hooks.json",
				"mkdir|" + c + "/prompts", "rename|" + c + "/sessions|" + c + "/prompts",
				"mkdir|" + c + "/.git", "mkdir|" + c + "/sessions/.git", "create|" + c + "/.envrc",
			}
			want := strings.Fields("ok ok ok EROFS EROFS EROFS EBUSY EROFS EBUSY EBUSY EBUSY EXDEV EROFS EBUSY EROFS EBUSY EPERM EPERM EPERM EPERM EPERM EPERM EPERM EPERM EPERM")
			got := b.agentTries("codex", spec, attempts...)
			for i, a := range attempts {
				if got[a] != want[i] {
					t.Errorf("%s: %s, want %s", a, got[a], want[i])
				}
			}
			b.holds(c+"/config.toml", "model\n")
			b.holds(c+"/skills/s/SKILL.md", "skill\n")
			for _, n := range []string{"/hooks.json", "/prompts", "/.git", "/.envrc", "/linked", "/old", "/skills2"} {
				b.absent(c + n)
			}
			if _, err := os.Stat(c + "/new"); err != nil {
				t.Error(err)
			}
			must(t, os.RemoveAll(c+"/new"))
			must(t, os.RemoveAll(c+"/sessions"))
			// The control, without a sandbox: everything succeeds except attempts on files that are
			// gone by then.
			free := 0
			for _, answer := range b.control(attempts...) {
				if answer == "ok" {
					free++
				}
			}
			if free < 12 {
				t.Errorf("control: only %d of %d go through on the host", free, len(attempts))
			}
		})
	}
}

// If the listener does not see the creation of a locked name, the sweep moves it away.
func TestAgentLockedNamesAreSwept(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.furnish()
	b.args = append(b.args, "--violations", "names") // opens are not examined
	r := b.agent("codex", specWW, "echo x >~/.codex/hooks.json; echo y >~/.codex/fine").ended()
	b.absent(b.home + "/.codex/hooks.json")
	b.holds(b.home+"/.codex/fine", "y\n")
	must(t, os.Remove(b.home+"/.codex/fine"))
	if moved := r.rec.list("swept"); len(moved) != 1 || moved[0].text("path") != b.home+"/.codex/hooks.json" {
		t.Errorf("swept: %v", r)
	}
}

// A directory reached through /proc has no path that could be reported; locked names in it are
// denied by name alone.
func TestAgentLockedNamesThroughProc(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.furnish()
	r := b.agent("codex", specWW, `cd ~/.codex
echo >/proc/self/cwd/hooks.json && echo made
mkdir /proc/self/cwd/prompts && echo made
echo >/proc/self/cwd/fine && echo fine`).ended()
	if strings.Contains(r.out, "made") || !strings.Contains(r.out, "fine") || len(r.rec.list("swept")) > 0 {
		t.Errorf("%v", r)
	}
	b.absent(b.home + "/.codex/hooks.json")
}

// The host may replace a locked file; it becomes locked again.
func TestAgentLockedIsRenewed(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.furnish()
	config := b.home + "/.codex/config.toml"
	b.write(b.out+"/codex", "#!/bin/sh\n"+`echo ready; while read -r line; do eval "$line"; done; echo end`+"\n")
	must(t, os.Chmod(b.out+"/codex", 0o755))
	s := b.start(specWW, b.out+"/codex")
	s.expect("ready")
	k := &talk{started: s}
	k.settled()
	b.write(b.home+"/new.toml", "replaced\n")
	must(t, os.Rename(b.home+"/new.toml", config))
	k.becomes("cat ~/.codex/config.toml; : >~/.codex/config.toml", "Read-only")
	k.ends()
	b.holds(config, "replaced\n")
}

// With a list of readable paths the home is private: the agent's own files are bound in, and its
// file directly in the home is a copy that can be replaced.
func TestAgentPrivateHome(t *testing.T) {
	for _, spec := range []string{`{"access_mode": "workspace-write", "filesystem": {"read": ["@system"]}}`, specWW} {
		needSandbox(t)
		b := newBox(t) // under /tmp a home is private whatever the list
		b.furnish()
		before := b.snapshot(b.home, ".claude/projects")
		r := b.agent("claude", spec, `cd ~
cat .claude.json .claude/settings.json .claude/projects/p
echo '{"n": 2}' >.claude.json.tmp && mv .claude.json.tmp .claude.json && cat .claude.json
ls .bashrc .ssh .netrc .config docs && echo shown
echo x >.claude/settings.json && echo written
echo q >.claude/projects/q && echo made >made && cat made`).ended()
		for _, word := range []string{`{"n": 1}`, `{"n": 2}`, "p\n", "made"} {
			if !strings.Contains(r.out, word) {
				t.Errorf("no %q: %v", word, r)
			}
		}
		for _, word := range []string{"shown", "written", "s3cret"} {
			if strings.Contains(r.out, word) {
				t.Errorf("%s: %v", word, r)
			}
		}
		b.holds(b.home+"/.claude/projects/q", "q\n")
		if names := differ(before, b.snapshot(b.home, ".claude/projects")); len(names) > 0 {
			t.Errorf("the host's home was changed: %q", names)
		}
		if s := r.rec.status("home"); s != "enforced" {
			t.Errorf("home: %s, %s", s, r.rec.reason("home"))
		}
	}
}

// A link that a command may have left in a directory that the agent writes opens nothing.
func TestAgentOwnLinksAreNotFollowed(t *testing.T) {
	b := agentElsewhere(t)
	must(t, os.Remove(b.home+"/.codex/config.toml"))
	must(t, os.Symlink("../.ssh", b.home+"/.codex/rules"))
	must(t, os.Symlink("../.ssh/id", b.home+"/.codex/config.toml"))
	// A file made in the same clock tick as a launch looks like one made after it, and would be
	// swept.
	tick := func() { time.Sleep(50 * time.Millisecond) }
	tick()
	for _, spec := range []string{specWW, `{"access_mode": "workspace-write", "filesystem": {"read": ["@system"]}}`} {
		r := b.agent("codex", spec, "cd ~; cat .codex/config.toml .codex/rules/id .ssh/id; ls .ssh").ended()
		if strings.Contains(r.out, "s3cret") || strings.Contains(r.out, "id\n") {
			t.Errorf("%v", r)
		}
		// A link cannot be mounted on; a file that takes its place is denied, or swept.
		c := b.home + "/.codex"
		got := b.agentTries("codex", spec, "unlink|"+c+"/config.toml", "create|"+c+"/config.toml", "symlink|x|"+c+"/config.toml", "rename|"+c+"/log|"+c+"/config.toml")
		if got["unlink|"+c+"/config.toml"] != "ok" || got["create|"+c+"/config.toml"] != "EPERM" || got["symlink|x|"+c+"/config.toml"] != "EPERM" || got["rename|"+c+"/log|"+c+"/config.toml"] != "EPERM" {
			t.Errorf("%v", got)
		}
		b.args = []string{"--violations", "names"}
		b.agent("codex", spec, "echo evil >~/.codex/config.toml").ended()
		b.absent(c + "/config.toml")
		b.args = nil
		must(t, os.Symlink("../.ssh/id", c+"/config.toml"))
		tick()
	}
	if r := b.plain("cat", b.home+"/.codex/rules/id"); r.out != "s3cret\n" {
		t.Errorf("control: %v", r)
	}
}

// If the home is the workspace, an agent works on the host's files. It can write its own state, and
// locked files are locked.
func TestAgentInItsHome(t *testing.T) {
	b := agentElsewhere(t)
	b.ws = b.home
	r := b.agent("codex", specWW, `cd ~
echo s >.codex/s; mkdir .codex/sessions; echo w >docs/w
echo x >.codex/config.toml; echo x >.codex/hooks.json; mkdir .codex/d/.git; mkdir .gemini; mv .codex c2; cat .ssh/id .netrc; echo x >.claude/settings.json`).ended()
	b.holds(b.home+"/.codex/s", "s\n")
	b.holds(b.home+"/docs/w", "w\n")
	b.holds(b.home+"/.codex/config.toml", "model\n")
	b.holds(b.home+"/.claude/settings.json", "{}\n")
	for _, n := range []string{".codex/hooks.json", ".gemini", "c2"} {
		b.absent(b.home + "/" + n)
	}
	if _, err := os.Stat(b.home + "/.codex/sessions"); err != nil {
		t.Error(err)
	}
	if strings.Contains(r.out, "s3cret") || r.rec.status("home") != "degraded" {
		t.Errorf("%v", r)
	}
	r = b.agent("codex", specRO, "cd ~; echo x >docs/w2; echo t >.codex/t").ended()
	b.absent(b.home + "/docs/w2")
	b.holds(b.home+"/.codex/t", "t\n")
	if r.rec.status("home") != "degraded" || !strings.Contains(r.rec.reason("home"), "may only be read") {
		t.Errorf("%v", r)
	}
}

// Without a writable overlay the home is rebuilt from binds.
func TestAgentHomeWithoutOverlay(t *testing.T) {
	needSandbox(t)
	for name, make := range map[string]func(t *testing.T, b *box) []string{
		"no whiteouts": func(t *testing.T, b *box) []string { return refusing(t, "whiteout") },
		// A mount under a directory is locked in another user namespace, and the kernel refuses to
		// make a layer of such a directory.
		"a mount beneath": func(t *testing.T, b *box) []string {
			host := []string{needPrograms(t, "unshare", "mount"), "-Urm"}
			if isRoot() {
				host[1] = "-m"
			}
			return append(host, "/bin/sh", "-ec", "mount -t tmpfs -o mode=755 none "+b.home+"/docs/deep; echo deep >"+b.home+`/docs/deep/c; exec "$@"`, "sh")
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := agentElsewhere(t)
			b.host = make(t, b)
			before := b.snapshot(b.home, ".claude/projects")
			r := b.agent("claude", specWW, `cd ~
echo '{"n": 2}' >.claude.json.tmp && mv .claude.json.tmp .claude.json && cat .claude.json
echo m >made && cat made; cat .bashrc; echo x >.bashrc || echo closed; echo x >docs/deep/c; rm -rf .ssh; mv .ssh s2; cat .ssh/id .netrc .config/gh/hosts.yml s2/id
echo q >.claude/projects/q`).ended()
			for _, word := range []string{`{"n": 2}`, "m\n", "rc\n", "closed"} {
				if !strings.Contains(r.out, word) {
					t.Errorf("no %q: %v", word, r)
				}
			}
			if strings.Contains(r.out, "s3cret") {
				t.Errorf("%v", r)
			}
			b.holds(b.home+"/.claude/projects/q", "q\n")
			if names := differ(before, b.snapshot(b.home, ".claude/projects")); len(names) > 0 {
				t.Errorf("the host's home was changed: %q", names)
			}
			if s := r.rec.status("home"); s != "degraded" || !strings.Contains(r.rec.reason("home"), "may only be read") {
				t.Errorf("home: %s, %s", s, r.rec.reason("home"))
			}
		})
	}
}
