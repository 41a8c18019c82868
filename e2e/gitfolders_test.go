package e2e

import (
	"os"
	"strings"
	"testing"
)

// A name that would become a submodule's git directory, or another worktree's, is denied by
// whatever path it is made: in the common directory of a linked worktree, under a name that looks
// like branches, by a rename that brings it along.
func TestGitDirsToCome(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.repository(b.base + "/lib")
		main, wt := b.base+"/main", b.base+"/wt"
		b.repository(main)
		b.git(main, "-c", "protocol.file.allow=always", "submodule", "-q", "add", b.base+"/lib", "sub")
		b.git(main, "commit", "-qm", "sub")
		b.git(main, "worktree", "add", "-q", "-b", "side", wt)
		g := main + "/.git"
		must(t, os.MkdirAll(g+"/foo/hooks", 0o755))
		must(t, os.RemoveAll(g+"/hooks"))
		for _, dir := range []string{main, wt} {
			tries := []string{"mkdir|" + g + "/hooks", "create|" + g + "/config.worktree", "mkdir|" + g + "/modules/new", "create|" + g + "/modules/new",
				"mkdir|" + g + "/modules/logs", "rename|" + g + "/foo|" + g + "/modules/bar", "rename|" + g + "/foo|" + g + "/worktrees/bar",
				"mkdir|" + g + "/worktrees/x", "create|" + g + "/modules/sub/config.worktree", "rename|" + g + "/foo|" + g + "/hooks",
				"create|" + g + "/worktrees/wt/config.worktree"}
			got := b.triesIn(dir, b.withConfig(specWW), append(tries, "mkdir|"+g+"/free")...)
			for _, s := range tries {
				if got[s] != "EPERM" {
					t.Errorf("in %s: %s: %s", dir, s, got[s])
				}
			}
			if got["mkdir|"+g+"/free"] != "ok" {
				t.Errorf("in %s: the control: %v", dir, got)
			}
			must(t, os.RemoveAll(g+"/free"))
		}
		const branches = "git branch config && git branch hooks && git commit -q --allow-empty -m x && git checkout -q hooks && git commit -q --allow-empty -m y && git gc -q && git fsck && "
		for _, dir := range []string{main, main + "/sub", wt} {
			in := main
			if dir == wt {
				in = wt
			}
			script := "cd " + dir + " && " + branches + "git branch -D config && echo end"
			r := b.runIn(in, "", b.withConfig(specWW), "/bin/sh", "-c", script).ended()
			if lastLine(r.out) != "end" || len(r.rec.moved()) != 0 || r.rec.at("sweep_cuts") != nil {
				t.Errorf("branches in %s: %v; moved %v", dir, r, r.rec.moved())
			}
			if dir == main {
				b.git(main, "branch", "-m", "hooks", "kept")
			}
		}
	})
}

// A directory with hooks cannot be renamed to the path where a configuration expects hooks.
func TestGitHooksPathToCome(t *testing.T) {
	needSandbox(t)
	b := newBox(t)
	b.repository(b.ws)
	b.git(b.ws, "config", "core.hooksPath", "tools/hooks")
	must(t, os.MkdirAll(b.ws+"/t2/hooks", 0o755))
	rename, mkdir, free := "rename|"+b.ws+"/t2|"+b.ws+"/tools", "mkdir|"+b.ws+"/tools", "mkdir|"+b.ws+"/free"
	got := b.tries(specWW, rename, mkdir, free)
	if got[rename] != "EPERM" || got[mkdir] != "EPERM" || got[free] != "ok" {
		t.Errorf("%v", got)
	}
	b.absent(b.ws + "/tools")
}

// A document that lists a git directory and nothing else as writable opens all of it, and nothing
// in it is moved away, whatever is next to git's own names.
func TestGitDirAlone(t *testing.T) {
	needSandbox(t)
	eachPlace(t, func(t *testing.T, b *box) {
		b.repository(b.ws + "/repo")
		b.write("ws/repo/.git/annex", "no name of git's\n")
		b.write("ws/repo/.git/.envrc", "nor this\n")
		for _, write := range []string{".git", "**/.git", b.ws + "/repo/.git"} {
			spec := `{"access_mode": "read-only", "working_dir": "` + b.ws + `/repo", "filesystem": {"write": ["` + write + `"]}}`
			r := b.sh(spec, "git checkout -q -B side && git checkout -q -B main && echo more >>.git/.envrc && echo written").ended()
			if want := write != "**/.git"; want != strings.Contains(r.out, "written") || len(r.rec.moved()) != 0 {
				t.Errorf("%s: %v; moved %v", write, r, r.rec.moved())
			}
			b.git(b.ws+"/repo", "status", "-s")
		}
	})
}
