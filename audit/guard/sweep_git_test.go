package guard

import (
	"os"
	"slices"
	"testing"
	"time"

	"sbx/audit"
	"sbx/internal/dirs/dirstest"
	"sbx/wrap/defaults"
)

func (g *ground) rename(from, to string) {
	g.t.Helper()
	if err := os.Rename(g.tree+"/"+from, g.tree+"/"+to); err != nil {
		g.t.Fatal(err)
	}
}

func (g *ground) forbids(want bool, paths ...string) {
	g.t.Helper()
	for _, p := range paths {
		if got := g.sweep.Forbids(g.tree + "/" + p); got != want {
			g.t.Errorf("%s: forbidden %v", p, got)
		}
	}
}

func (g *ground) swept(want ...string) {
	g.t.Helper()
	out := g.sweep.End()
	slices.Sort(want)
	if got := g.moved(out); !slices.Equal(got, want) || len(out.Cuts) != 0 {
		g.t.Errorf("moved %q, want %q; cuts %q", got, want, out.Cuts)
	}
}

// TestSweepInACommonDir: the common directory of a linked worktree is a tree of its own; the paths
// in it contain no .git.
func TestSweepInACommonDir(t *testing.T) {
	g := newGround(t, "config", "HEAD", "modules/old/config", "modules/old/logs/refs/heads/", "modules/old/refs/heads/",
		"worktrees/w/gitdir", "worktrees/other/gitdir", "refs/heads/", "foo/config")
	g.w.Git = []string{g.tree, g.tree + "/modules/old", g.tree + "/worktrees/w"}
	g.w.Closed = []string{g.tree + "/worktrees/other"}
	g.known = []string{g.tree + "/config", g.tree + "/modules/old/config", g.tree + "/worktrees/w/gitdir"}
	g.launch()
	g.forbids(true, "hooks", "config.worktree", "modules/sub", "modules/sub/config", "modules/logs/x/config", "modules", "worktrees",
		"worktrees/x", "worktrees/x/gitdir", "worktrees/w/config.worktree", "modules/old/hooks", "modules/old/modules/logs", "worktrees/other/gitdir")
	g.forbids(false, "HEAD.lock", "refs/heads/config", "logs/refs/heads/hooks", "modules/old/HEAD.lock", "modules/old/refs/heads/config",
		"modules/old/logs/refs/heads/hooks", "worktrees/w/HEAD.lock", "worktrees/w/logs/HEAD", "objects/ab")
	dirstest.Plant(t, g.tree, "hooks/x", "modules/logs/x/config", "modules/old/logs/refs/heads/config", "modules/old/refs/heads/hooks", "refs/heads/config",
		"worktrees/x/gitdir", "modules/old/index")
	g.rename("foo", "modules/bar")
	g.swept("hooks", "modules/bar/config", "modules/logs/x/config", "worktrees/x/gitdir")
}

// TestSweepWhatARenameBrings: renaming a directory does not change the times of the files in it.
func TestSweepWhatARenameBrings(t *testing.T) {
	g := newGround(t, ".git/config", ".git/x/hooks/h", ".git/x/deep/down/config", "t2/hooks/pre-commit", "claude/agents/x", ".git/modules/deps/lib/config",
		".git/modules/deps/lib/refs/heads/config", ".git/modules/left/hooks/h")
	g.known = []string{g.tree + "/.git", g.tree + "/.git/config", g.tree + "/.git/modules/deps/lib/config", g.tree + "/.git/modules/left/hooks"}
	g.w.Git = []string{g.tree + "/.git", g.tree + "/.git/modules/deps/lib"}
	g.w.Unmade = []string{g.tree + "/tools/hooks", g.tree + "/t2/far/off/hooks"}
	g.launch()
	g.forbids(true, "tools", "tools/hooks", "t2/far", "t2/far/off", ".git/modules/sub", ".git/modules/deps/new")
	g.forbids(false, "t2/other", "tool", "tools/x", ".git/y", "t2")
	g.rename(".git/x", ".git/modules/sub")
	g.rename("t2", "tools")
	g.rename("claude", ".claude")
	dirstest.Plant(t, g.tree, ".git/modules/deps/new", ".git/modules/deps/lib/HEAD", ".git/modules/left/new")
	g.sweep.Leads = defaults.LeadsToProtected
	g.swept(".claude/agents", ".git/modules/sub/deep/down/config", ".git/modules/sub/hooks", "tools/hooks")
	for _, kept := range []string{".git/modules/deps/lib/config", ".git/modules/deps/lib/refs/heads/config", ".git/modules/left/hooks/h"} {
		if !dirstest.Exists(g.tree + "/" + kept) {
			t.Errorf("%s is gone", kept)
		}
	}
}

// TestSweepUnknownSubmodules: after an incomplete search at launch, files that may belong to a
// submodule stay and are reported.
func TestSweepUnknownSubmodules(t *testing.T) {
	g := newGround(t, ".git/modules/a/logs/refs/heads/")
	g.known, g.cut = []string{g.tree + "/.git"}, true
	g.w.Git = []string{g.tree + "/.git"}
	g.launch()
	g.forbids(false, ".git/modules/a/HEAD.lock")
	g.forbids(true, ".git/modules/b", ".git/modules/a/logs/refs/heads/config")
	dirstest.Plant(t, g.tree, ".git/modules/a/logs/refs/heads/config", ".git/modules/logs/config")
	if out := g.sweep.End(); len(out.Cuts) != 1 || !slices.Equal(g.moved(out), []string{".git/modules/logs/config"}) {
		t.Errorf("%+v", out)
	}
}

// TestSweepLeavesOtherCase: the search at launch does not find names in other case, so they stay.
func TestSweepLeavesOtherCase(t *testing.T) {
	g := newGround(t, ".claude/Agents/x", ".VSCode/x")
	g.launch()
	g.sweep.Leads = defaults.LeadsToProtected
	dirstest.Plant(t, g.tree, ".claude/notes", "new")
	g.swept()
}

// TestWatchReportsEarlierNames: the first Drain reports names that were created before the watch
// began.
func TestWatchReportsEarlierNames(t *testing.T) {
	g := newGround(t, "sub/", ".vscode/x", ".git/config")
	g.known = []string{g.tree + "/.vscode", g.tree + "/.git"}
	g.launch()
	dirstest.Plant(t, g.tree, ".envrc", "sub/.git/config")
	x := g.watch()
	for x.Widen(64) {
	}
	var got []string
	for _, n := range x.Drain(time.Unix(1, 0)) {
		got = append(got, n.What.String()+" "+n.Path[len(g.tree)+1:])
		g.sweep.At(n.Path)
	}
	for _, want := range []string{"appeared .envrc", "appeared sub/.git"} {
		if !slices.Contains(got, want) || dirstest.Exists(g.tree+"/"+want[len("appeared "):]) {
			t.Errorf("%s is not in %q, or there", want, got)
		}
	}
	if !dirstest.Exists(g.tree+"/.vscode/x") || !dirstest.Exists(g.tree+"/.git/config") {
		t.Error("what was there is gone")
	}
	if again := x.Drain(time.Unix(1, 0)); len(again) != 0 {
		t.Errorf("%+v", again)
	}
}

// TestSweepReportsNamesInTheLastDir: a walk that ends early in the last directory is incomplete,
// too.
func TestSweepReportsNamesInTheLastDir(t *testing.T) {
	g := newGround(t)
	g.launch()
	dirstest.Plant(t, g.tree, "a", "b", "c", "d")
	g.sweep.prepare()
	for names, want := range map[int]int{3: 1, 100: 0} {
		var out audit.Swept
		w := newWalk()
		w.s, w.out, w.buf, w.made.names = g.sweep, &out, make([]byte, 4<<10), names
		if w.tree(&g.sweep.Held.trees[0]); len(out.Cuts) != want {
			t.Errorf("%d names: %q", names, out.Cuts)
		}
	}
}
