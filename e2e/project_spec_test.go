package e2e

import (
	"os"
	"strings"
	"testing"
)

// projectRepo makes a repository at dir with a project's own spec.
func projectRepo(b *box, dir, text string) (path string) {
	b.t.Helper()
	b.write(dir+"/.git/HEAD", "ref: refs/heads/main\n")
	return b.write(dir+"/.sbx/spec.yaml", text)
}

// TestProjectSpecOfAnotherUser checks that a spec which another user may change is used only if the
// caller trusts its bytes.
func TestProjectSpecOfAnotherUser(t *testing.T) {
	needSandbox(t)
	if !isRoot() {
		t.Skip("only root can give files away")
	}
	b := newBoxElsewhere(t)
	path := projectRepo(b, b.ws, "max_commands: 2\n")
	if r := b.run("", "true"); r.code != 0 {
		t.Error(r)
	}
	must(t, os.Chown(path, 4321, 4321))
	if r := b.run("", "true"); r.code != 125 || !strings.Contains(r.err, "it belongs to another user") {
		t.Error(r)
	}
	if r := b.plain(sbxPath, "trust"); r.code != 0 {
		t.Error(r)
	}
	if r := b.run("", "true"); r.code != 0 {
		t.Error(r)
	}
	b.write(path, "max_commands: 3\n")
	if r := b.run("", "true"); r.code != 125 {
		t.Error("changed by its owner: ", r)
	}
}

// TestProjectSpecInside checks that a sandbox inside another uses no project's spec, and does not
// mention trust.
func TestProjectSpecInside(t *testing.T) {
	n := newNest(t)
	projectRepo(n.box, n.ws, "filesystem: {hide: [secret]}\n")
	n.write(n.ws+"/secret", "s3")
	const wants = specWW
	r := n.box.run(wants, "/bin/sh", "-c", n.inner+" exec -- cat secret; "+n.inner+" trust; echo trust: $?")
	if !strings.HasPrefix(r.out, "s3") || !strings.Contains(r.out, "trust: 1") || strings.Contains(r.err, "narrows the default") || !strings.Contains(r.err, "this is inside a sandbox") {
		t.Error(r)
	}
	// The control: outside it applies, and can be trusted.
	if r := n.box.run("", "cat", "secret"); strings.Contains(r.out, "s3") || !strings.Contains(r.err, "narrows the default") {
		t.Error(r)
	}
	if r := n.plain(sbxPath, "trust"); r.code != 0 {
		t.Error(r)
	}
}

// TestProjectSpecOfAnInnerRepository checks that a command in a directory with several projects
// cannot change their specs.
func TestProjectSpecOfAnInnerRepository(t *testing.T) {
	needSandbox(t)
	for _, spec := range []string{specWW, `{}`} { // the second is the control
		b := newBox(t)
		path := projectRepo(b, b.ws+"/app", "max_commands: 2\n")
		r := b.sh(spec, `echo "{}" >app/.sbx/spec.yaml || rm -f app/.sbx/spec.yaml || mv app/.sbx app/old || mv app old || echo kept`).ended()
		text, _ := os.ReadFile(path)
		if kept := string(text) == "max_commands: 2\n"; kept != (spec == specWW) || kept != strings.Contains(r.out, "kept") {
			t.Error(spec, ": ", r)
		}
	}
}

// TestTrustIsNotForged checks sbx's state under another XDG_STATE_HOME: a later run without that
// variable would trust the files there.
func TestTrustIsNotForged(t *testing.T) {
	needSandbox(t)
	needPrograms(t, "mkdir")
	b := newBox(t)
	for dir, made := range map[string]bool{"zsh": true, "sbx": false, "sbx/trust": false} {
		r := b.runIn(b.home, "", specWW, "mkdir", "-p", b.home+"/.local/state/"+dir)
		if _, err := os.Lstat(b.home + "/.local/state/" + dir); (err == nil) != made || (r.code == 0) != made {
			t.Error(dir, ": ", r)
		}
	}
}
