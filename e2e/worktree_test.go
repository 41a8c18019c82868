package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// linked makes a repository in the workspace with linked worktrees in it.
func (b *box) linked(names ...string) {
	b.t.Helper()
	b.repository(b.ws)
	for _, n := range names {
		b.git(b.ws, "worktree", "add", "-q", "-b", "side-"+filepath.Base(n), b.ws+"/"+n)
	}
}

// worktreesOf returns the worktrees of the workspace according to git on the host.
func (b *box) worktreesOf() string {
	b.t.Helper()
	r := b.plain("git", "-C", b.ws, "worktree", "list", "--porcelain")
	if r.code != 0 {
		b.t.Fatalf("%v", r)
	}
	var list []string
	for _, l := range strings.Split(r.out, "\n") {
		if path, ok := strings.CutPrefix(l, "worktree "); ok {
			list = append(list, strings.TrimPrefix(strings.TrimPrefix(path, b.ws), "/"))
		} else if strings.HasPrefix(l, "prunable") {
			list = append(list, l)
		}
	}
	return strings.Join(list, ",")
}

// A linked worktree can be removed inside as without a sandbox, and the host's git finds nothing of
// it.
func TestWorktreesAreRemovedInside(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.linked("plain", "in/dirty", "pruned", "gone", "kept")
		b.write(b.ws+"/in/dirty/more", "x\n")
		b.git(b.ws, "config", "extensions.worktreeConfig", "true")
		b.git(b.ws+"/plain", "config", "--worktree", "core.abbrev", "9")
		must(t, os.RemoveAll(b.ws+"/gone"))
		r := b.sh(b.withConfig(specWW), `
			step() { "$@" >log 2>&1 || { echo "failed: $*"; cat log; }; }
			git worktree remove in/dirty 2>/dev/null && echo removed a dirty one
			step git worktree remove plain; step git worktree remove --force in/dirty
			step rm -rf pruned; step git worktree prune
			step git worktree list; step git -C kept status; step git status
			rm log`).ended()
		if r.out != "end\n" || r.err != "" {
			t.Errorf("%v", r)
		}
		for _, n := range []string{"plain", "in/dirty", "pruned", "gone"} {
			b.absent(b.ws + "/" + n)
			b.absent(b.ws + "/.git/worktrees/" + filepath.Base(n))
		}
		if got := b.worktreesOf(); got != ",kept" {
			t.Errorf("the host has the worktrees %q", got)
		}
		b.git(b.ws, "fsck")
		b.git(b.ws+"/kept", "status")
		if moved := r.rec.moved(); len(moved) != 0 || len(r.rec.list("violations")) != 0 {
			t.Errorf("moved %v, violations %v", moved, r.rec["violations"])
		}
		for _, n := range []string{"plain/.git", ".git/worktrees/plain/commondir", ".git/worktrees/plain/config.worktree", ".git/worktrees/plain", "in/dirty", "pruned/.git", ".git/worktrees/gone/gitdir"} {
			p := r.rec.protected(t, b.ws+"/"+n)
			if e := p.list("events"); len(e) != 1 || e[0].text("what") != "removed inside" || p["unprotected_ms"] != nil {
				t.Errorf("%s: %v", n, p)
			}
		}
		if why := r.rec.reason("protected_names"); !strings.Contains(why, "the worktree of "+b.ws+"/.git/worktrees/gone was removed inside") || strings.Contains(why, "worktrees/kept") {
			t.Errorf("the line says %q", why)
		}
		// The last one is removed, and the directory of all.
		if r := b.sh(b.withConfig(specWW), "git worktree remove kept").ended(); r.err != "" {
			t.Errorf("%v", r)
		}
		b.absent(b.ws + "/.git/worktrees")
	})
}

// Nothing in a worktree's directory is removed while its .git file exists, nothing of the
// repository itself ever is, and the directory goes as a whole.
func TestWorktreesAreRemovedInOrder(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.linked("wt", "other")
	must(t, os.Mkdir(b.ws+"/.git/modules", 0o755))
	b.write(b.ws+"/.vscode/settings.json", "{}\n")
	admin := b.ws + "/.git/worktrees/wt"
	const busy, ok, empty, perm, rofs, notDir = "EBUSY", "ok", "ENOTEMPTY", "EPERM", "EROFS", "ENOTDIR"
	git := b.ws + "/.git"
	steps := []struct{ try, want string }{
		{"unlink|" + admin + "/commondir", busy}, {"unlink|" + admin + "/gitdir", busy}, {"rmdir|" + admin, busy}, {"rmdir|" + b.ws + "/wt", busy},
		{"rename|" + b.ws + "/wt|" + b.ws + "/x", busy}, {"rename|" + admin + "|" + git + "/worktrees/x", perm}, {"rename|" + b.ws + "/wt/.git|" + b.ws + "/wt/x", busy},
		{"rmdir|" + git + "/hooks", busy}, {"rmdir|" + b.ws + "/.vscode", busy}, {"rmdir|" + b.ws + "/wt/.git", "ENOTDIR"}, {"unlink|" + b.ws + "/wt/.git/", notDir},
		{"rmdir|" + git + "/worktrees", empty},
		{"unlink|" + b.ws + "/wt/.git", ok},
		{"unlink|" + git + "/worktrees/other/commondir", busy}, {"unlink|" + git + "/config", busy},
		{"rmdir|" + b.ws + "/./wt", empty}, {"rename|" + b.ws + "/wt|" + b.ws + "/y", busy},
		{"symlink|x|" + b.ws + "/wt/.git", perm}, {"create|" + b.ws + "/wt/.git", perm}, {"mkdir|" + b.ws + "/wt/.git", perm},
		{"unlink|" + git + "/./worktrees/wt/commondir", ok}, {"rmdir|" + git + "/./worktrees/wt", empty},
		{"mkdir|" + admin + "/hooks", perm}, {"create|" + admin + "/config", perm}, {"write|" + admin + "/commondir", rofs},
		{"rename|" + admin + "/HEAD|" + admin + "/commondir", busy}, {"unlink|" + git + "/./config", busy},
	}
	var tries []string
	for _, s := range steps {
		tries = append(tries, s.try)
	}
	got := b.tries(specWW, tries...)
	for _, s := range steps {
		if got[s.try] != s.want {
			t.Errorf("%s: %s, want %s", s.try, got[s.try], s.want)
		}
	}
	b.absent(b.ws + "/wt/.git")
	b.holds(admin+"/commondir", "../..\n") // noted only, as the directory stays
	b.git(b.ws, "status")
	b.git(b.ws+"/other", "status")
	// The control: all of it can be removed without a sandbox.
	for _, path := range []string{admin + "/commondir", b.ws + "/other/.git", b.ws + "/.git/config"} {
		must(t, os.Remove(path))
	}
}

// A name that a removed worktree left free is protected like any other: planting it is denied or
// undone.
func TestRemovedWorktreesStayProtected(t *testing.T) {
	needSandbox(t)
	for _, level := range []string{"on", "names"} {
		t.Run(level, func(t *testing.T) {
			b := newBox(t)
			b.linked("wt")
			b.args = append(b.args, "--violations", level)
			r := b.sh(b.withConfig(specWW), `
				git worktree remove wt || echo failed
				mkdir wt || echo no wt
				mkdir wt/.git 2>/dev/null && echo made a directory
				ln -s ../x wt/.git 2>/dev/null && echo made a link
				mkdir ev; mkdir ev/x; mv ev/x wt/.git 2>/dev/null && echo moved a directory
				mkdir .git/worktrees 2>/dev/null && echo made worktrees
				mkdir -p .git/worktrees/wt 2>/dev/null && echo made its directory
				(echo "gitdir: /nowhere" >wt/.git) 2>/dev/null && echo planted`).ended()
			want := "end\n"
			if level == "names" {
				want = "planted\nend\n"
			}
			if r.out != want {
				t.Errorf("%v", r)
			}
			b.absent(b.ws + "/wt/.git")
			b.absent(b.ws + "/.git/worktrees")
			if moved := r.rec.moved(); level == "names" && (len(moved) != 1 || moved[0] != b.ws+"/wt/.git") || level == "on" && len(moved) != 0 {
				t.Errorf("moved away: %v", moved)
			}
			b.git(b.ws, "status")
			// The control: nothing of it is denied elsewhere.
			r = b.plain("/bin/sh", "-c", "echo x >wt/.git && rm wt/.git && mkdir wt/.git && mkdir -p .git/worktrees/wt && echo end").ended()
		})
	}
}

// A worktree outside of the workspace, or with other names than git makes, is left to the kernel:
// EBUSY.
func TestOtherWorktreesAreNotRemovedInside(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.linked("led", "linked", "moved")
	b.git(b.ws, "worktree", "add", "-q", "-b", "out", b.base+"/away")
	// In one the .git file leads elsewhere, one is reached through a link, and one was moved and is
	// in use at its new place.
	b.write(b.ws+"/led/.git", "gitdir: "+b.ws+"/.git/worktrees/linked\n")
	must(t, os.Rename(b.ws+"/linked", b.ws+"/real"))
	must(t, os.Symlink("real", b.ws+"/linked"))
	must(t, os.Rename(b.ws+"/moved", b.ws+"/now"))
	script := ""
	var paths []string
	for _, n := range []string{"led", "linked", "away"} {
		paths = append(paths, ".git/worktrees/"+n+"/commondir")
	}
	paths = append(paths, "led/.git", ".git/worktrees/moved/commondir")
	for _, p := range paths {
		script += "rm -f " + p + " 2>/dev/null && echo removed " + p + "\n"
	}
	script += "git worktree prune --expire now 2>/dev/null; rm -f now/.git && rm -f .git/worktrees/moved/commondir || echo not in order"
	if r := b.sh(b.withConfig(specWW), script).ended(); r.out != "end\n" {
		t.Errorf("%v", r)
	}
	for _, p := range paths {
		if _, err := os.Stat(b.ws + "/" + p); err != nil {
			t.Errorf("%v", err)
		}
	}
	b.absent(b.ws + "/now/.git")
	must(t, os.Remove(b.ws+"/"+paths[0]))
}

// The supervisor removes nothing that the command could not have removed itself.
func TestWorktreesAreRemovedWithTheCommandsRights(t *testing.T) {
	needSandbox(t)
	b := newBoxElsewhere(t)
	b.linked("wt")
	if isRoot() {
		must(t, os.Chown(b.ws+"/wt", 12345, 12345))
	} else {
		must(t, os.Chmod(b.ws+"/wt", 0o555))
	}
	try := "barely|" + b.ws + "/wt/.git"
	if got := b.tries(specWW, try)[try]; got != "EACCES" {
		t.Errorf("%s: %s", try, got)
	}
	if _, err := os.Stat(b.ws + "/wt/.git"); err != nil {
		t.Error(err)
	}
	if !isRoot() {
		must(t, os.Chmod(b.ws+"/wt", 0o755))
	}
	b.sh(specWW, "rm -f wt/.git && rm -f wt/file && echo removed").ended()
	b.absent(b.ws + "/wt/.git")
}
