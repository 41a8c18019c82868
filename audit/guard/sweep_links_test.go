package guard

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"sbx/internal/dirs/dirstest"
)

func (g *ground) symlink(names ...string) {
	g.t.Helper()
	for _, n := range names {
		if err := os.Symlink("/elsewhere", g.tree+"/"+n); err != nil {
			g.t.Fatal(err)
		}
	}
}

// TestSweepLinksInAGitDir: new links through which git on the host would write are moved away,
// however they came to their place. Links that existed at launch stay.
func TestSweepLinksInAGitDir(t *testing.T) {
	g := newGround(t, ".git/config", ".git/logs/refs/heads/", ".git/refs/heads/", ".git/annex/", "x/refs/heads/", "deep/.git/config", "common/refs/")
	g.known = []string{g.tree + "/.git", g.tree + "/.git/config", g.tree + "/deep/.git"}
	g.w.Git = []string{g.tree + "/.git", g.tree + "/common"}
	g.w.Allowed = []string{g.tree + "/.git/MINE"}
	g.symlink(".git/old", ".git/refs/old", "x/refs/heads/main", "other", "third")
	g.launch()
	for p, want := range map[string]bool{".git/index": true, ".git/logs/HEAD": true, "deep/.git/x": true, "common/index": true,
		".git/MINE": false, ".git/annex/x": false, "index": false, "deep/index": false} {
		if g.sweep.Links(g.tree+"/"+p) != want {
			t.Errorf("%s: %v", p, !want)
		}
	}
	g.symlink(".git/index", ".git/logs/HEAD", ".git/logs/refs/heads/new", ".git/MINE", ".git/annex/x", "deep/.git/ORIG_HEAD", "common/refs/x", "free")
	g.rename("other", ".git/FETCH_HEAD")
	if err := os.Link(g.tree+"/third", g.tree+"/.git/MERGE_MSG"); err != nil {
		t.Fatal(err)
	}
	g.rename(".git/logs/refs", ".git/logs/was")
	g.rename("x/refs", ".git/logs/refs") // with a link from before the launch
	dirstest.Plant(t, g.tree, ".git/COMMIT_EDITMSG")
	g.swept(".git/index", ".git/logs/HEAD", ".git/logs/was/heads/new", ".git/FETCH_HEAD", ".git/MERGE_MSG", ".git/logs/refs/heads/main",
		"deep/.git/ORIG_HEAD", "common/refs/x")
	for _, kept := range []string{".git/old", ".git/refs/old", ".git/MINE", ".git/annex/x", "third", "free"} {
		if _, err := os.Lstat(g.tree + "/" + kept); err != nil {
			t.Error(err)
		}
	}
}

// TestSweepLinksWithoutTimes: if the file system's times show no age, a link stays and is reported.
func TestSweepLinksWithoutTimes(t *testing.T) {
	g := newGround(t, ".git/config")
	g.known = []string{g.tree + "/.git", g.tree + "/.git/config"}
	g.launch()
	g.sweep.Held.trees[0].clocked = false
	g.symlink(".git/index")
	if out := g.sweep.End(); len(out.Cuts) != 1 || len(out.Moved) != 0 {
		t.Errorf("%+v", out)
	}
}

// indexOf returns git's own index of the files.
func indexOf(t *testing.T, files ...string) []byte {
	t.Helper()
	dir, git := withGit(t)
	dirstest.Plant(t, dir, files...)
	git("add", ".")
	b, err := os.ReadFile(dir + "/.git/index")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestSweepIndexes: an index is moved away if git would write outside by it. An honest index stays,
// and so does an unchanged one.
func TestSweepIndexes(t *testing.T) {
	honest := indexOf(t, ".fit/x", "a")
	evil := spoil(t, honest, ".fit/x", ".git/x")
	put := func(g *ground, name string, b []byte) {
		t.Helper()
		if err := os.WriteFile(g.tree+"/"+name, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	g := newGround(t, ".git/config", ".git/worktrees/w/HEAD", ".git/worktrees/old/HEAD", ".git/modules/m/HEAD", "sub/")
	g.known = []string{g.tree + "/.git", g.tree + "/.git/config"}
	g.w.Git = []string{g.tree + "/.git", g.tree + "/.git/worktrees/w", g.tree + "/.git/worktrees/old", g.tree + "/.git/modules/m"}
	put(g, ".git/worktrees/old/index", evil)
	g.launch()
	put(g, ".git/index", evil)
	put(g, ".git/sharedindex.0123", evil)
	put(g, ".git/worktrees/w/index", evil)
	put(g, ".git/modules/m/index", honest)
	put(g, "sub/index", evil)
	out := g.sweep.End()
	for _, m := range out.Moved {
		if m.Why == "" {
			t.Errorf("%s: no reason", m.Path)
		}
	}
	if got := g.moved(out); len(got) != 3 || len(out.Cuts) != 0 || dirstest.Exists(g.tree+"/.git/index") || dirstest.Exists(g.tree+"/.git/worktrees/w/index") ||
		!dirstest.Exists(g.tree+"/.git/modules/m/index") || !dirstest.Exists(g.tree+"/.git/worktrees/old/index") || !dirstest.Exists(g.tree+"/sub/index") {
		t.Errorf("moved %q; %q", got, out.Cuts)
	}
}

// TestSweepIndexesFirst: even if thousands of directories end the walk early, the sweep has looked
// at the indexes.
func TestSweepIndexesFirst(t *testing.T) {
	honest := indexOf(t, ".fit/x")
	g := newGround(t, "a/.git/config")
	g.known = []string{g.tree + "/a/.git", g.tree + "/a/.git/config"}
	g.w.Git = []string{g.tree + "/a/.git"}
	g.launch()
	if err := os.WriteFile(g.tree+"/a/.git/index", spoil(t, honest, ".fit/x", ".git/x"), 0o644); err != nil {
		t.Fatal(err)
	}
	w := newWalk()
	w.made.dirs = 1
	out := g.sweep.end(w)
	if got := g.moved(out); len(got) != 1 || len(out.Cuts) == 0 {
		t.Errorf("moved %q, cuts %q", got, out.Cuts)
	}
}

// TestSweepIndexesBounded: the sweep ends in time however many indexes a command leaves and however
// large they are. It reads the repository's own index, and as many of the others as the bounds
// allow.
func TestSweepIndexesBounded(t *testing.T) {
	honest := indexOf(t, ".fit/x")
	g := newGround(t, ".git/config")
	g.known = []string{g.tree + "/.git", g.tree + "/.git/config"}
	g.w.Git = []string{g.tree + "/.git"}
	g.launch()
	put := func(name string, b []byte, size int64) {
		t.Helper()
		if err := os.WriteFile(g.tree+"/"+name, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(g.tree+"/"+name, max(size, int64(len(b)))); err != nil {
			t.Fatal(err)
		}
	}
	const many = 50
	for i := range many {
		put(fmt.Sprintf(".git/sharedindex.%040d", i), honest[:indexHeader], maxIndex)
		put(fmt.Sprintf(".git/sharedindex.zeros%d", i), nil, maxIndex) // these are not indexes
	}
	put(".git/index", spoil(t, honest, ".fit/x", ".git/x"), 0)
	out := g.sweep.End()
	moved := map[string]int{}
	for _, m := range out.Moved {
		moved[m.Why]++
	}
	if dirstest.Exists(g.tree+"/.git/index") || moved["there are more indexes than can be looked at"] != many-maxIndexes/maxIndex || len(out.Moved) != 1+many-maxIndexes/maxIndex {
		t.Errorf("%v; cuts %q", moved, out.Cuts)
	}
}

// TestIndexOfLongNames: the time to read an index depends on its length and not on that of the
// names. The names of this index, which share long beginnings, have forty gigabytes together.
func TestIndexOfLongNames(t *testing.T) {
	const entries = 400_000
	entry := append(make([]byte, indexStat+20), 0x0f, 0xff)
	build := func(last string) []byte {
		b := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("DIRC"), 4), entries+1)
		b = append(append(append(b, entry...), 0), strings.Repeat("a/", 50_000)+"\x00"...)
		for range entries - 1 {
			b = append(append(b, entry...), 0, 0)
		}
		return append(append(append(b, entry...), 0), last+"\x00"...)
	}
	if indexLeads(build("b/c")) {
		t.Error("an honest one leads")
	}
	if !indexLeads(build(".git/x")) {
		t.Error("the last name is not seen")
	}
}
