package guard

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/dirs"
	"sbx/internal/dirs/dirstest"
	"sbx/wrap"
	"sbx/wrap/defaults"
)

// ground is a writable tree and a run's directory for a sweep.
type ground struct {
	t     *testing.T
	tree  string
	run   string
	w     wrap.Watch
	known []string
	cut   bool
	sweep *Sweep
}

func newGround(t *testing.T, before ...string) *ground {
	t.Helper()
	dirstest.NoLeak(t)
	dir := dirstest.Temp(t)
	g := &ground{t: t, tree: dir + "/w", run: dir + "/run"}
	dirstest.Plant(t, dir, "w/", "run/")
	dirstest.Plant(t, g.tree, before...)
	g.w.Trees = []string{g.tree}
	return g
}

// launch opens the descriptors, as sbx does before the command starts.
func (g *ground) launch() {
	g.t.Helper()
	time.Sleep(20 * time.Millisecond) // the clock of file systems ticks in steps
	held, err := Hold(g.w)
	if err != nil {
		g.t.Fatal(err)
	}
	fd, err := dirs.OpenRealDir(g.run)
	if err != nil {
		g.t.Fatal(err)
	}
	g.sweep = &Sweep{Watch: g.w, Held: held, Known: g.known, Cut: g.cut, Match: match,
		Run: func() (int, string, error) { return fd, g.run, nil }}
	g.t.Cleanup(func() { g.sweep.Close(); held.Close(); unix.Close(fd) })
}

func (g *ground) moved(s audit.Swept) []string {
	var out []string
	for _, m := range s.Moved {
		rel, err := filepath.Rel(g.tree, m.Path)
		if err != nil {
			g.t.Fatal(err)
		}
		out = append(out, rel)
		if dirstest.Exists(m.Path) {
			g.t.Errorf("%s is still there", m.Path)
		}
		if !dirstest.Exists(m.MovedTo) {
			g.t.Errorf("%s is not where it was moved to", m.MovedTo)
		}
	}
	slices.Sort(out)
	return out
}

func TestSweepMovesWhatIsNew(t *testing.T) {
	g := newGround(t, ".git/config", ".git/hooks/", "src/x", "old/.vscode/x", "old/.git/config")
	g.known = []string{g.tree + "/.git", g.tree + "/old/.git"}
	g.w.Protected = []wrap.Protected{
		{Path: g.tree + "/.git", Kind: wrap.Dir, Shared: true},
		{Path: g.tree + "/.git/config", Kind: wrap.File},
		{Path: g.tree + "/.git/hooks", Kind: wrap.Dir},
		{Path: g.tree + "/old/.git/config", Kind: wrap.File},
	}
	g.launch()
	dirstest.Plant(t, g.tree, "src/.git/config", "ev/deep/.git/config", ".envrc", ".vscode/tasks.json", ".claude/settings.local.json",
		".git/config.worktree", ".git/hooks/pre-commit", ".git/index", "src/y", "old/.git/commondir", "name\nnewline/.git/x", "odd\xff/.git/x")
	if err := os.Symlink("/etc", g.tree+"/.codex"); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(g.tree+"/.mcp.json", 0o600); err != nil {
		t.Fatal(err)
	}
	out := g.sweep.End()
	want := []string{".claude/settings.local.json", ".codex", ".envrc", ".git/config.worktree", ".mcp.json", ".vscode",
		"ev/deep/.git", "name\nnewline/.git", "odd\xff/.git", "old/.git/commondir", "src/.git"}
	slices.Sort(want)
	if got := g.moved(out); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q\ncuts %q", got, want, out.Cuts)
	}
	for _, kept := range []string{".git/config", ".git/hooks/pre-commit", ".git/index", "src/y", "old/.git/config", ".claude"} {
		if !dirstest.Exists(g.tree + "/" + kept) {
			t.Errorf("%s is gone", kept)
		}
	}
	kinds := map[string]string{}
	for _, m := range out.Moved {
		kinds[filepath.Base(m.Path)] = m.Kind
	}
	if kinds[".codex"] != "link" || kinds[".mcp.json"] != "other" || kinds[".envrc"] != "file" || kinds[".vscode"] != "folder" {
		t.Errorf("%v", kinds)
	}
	if b, _ := os.ReadFile(g.run + "/swept/1-.codex"); dirstest.Exists("/etc/1-.codex") || b != nil {
		t.Error("a link was followed")
	}
	if again := g.sweep.End(); len(again.Moved) != 0 || len(again.Repositories) != 0 {
		t.Errorf("a second sweep found %+v", again)
	}
}

func TestSweepLeavesWhatWasThere(t *testing.T) {
	// Known does not list these names; the times of the inodes show their age.
	g := newGround(t, "deep/repo/.git/config", ".vscode/x", "a/b/c/.git")
	g.launch()
	dirstest.Plant(t, g.tree, "deep/repo/new", "a/b/new")
	out := g.sweep.End()
	if len(out.Moved) != 0 || len(out.Repositories) != 0 {
		t.Errorf("%+v", out)
	}
	if list, err := os.ReadDir(g.run); err != nil || len(list) != 0 {
		t.Errorf("nothing was moved, and the run's directory holds %v, %v", list, err)
	}
}

func TestSweepUnsure(t *testing.T) {
	// The directory was created before the launch and renamed after it: the times do not show
	// which.
	for _, cut := range []bool{false, true} {
		g := newGround(t, "harmless/config")
		g.cut = cut
		g.launch()
		if err := os.Rename(g.tree+"/harmless", g.tree+"/.git"); err != nil {
			t.Fatal(err)
		}
		out := g.sweep.End()
		if dirstest.Exists(g.tree+"/.git") != cut {
			t.Errorf("search cut %v: %+v", cut, out)
		}
		if cut && (len(out.Cuts) != 1 || !strings.Contains(out.Cuts[0], "may have been there")) {
			t.Errorf("%q", out.Cuts)
		}
	}
	// A name that is certainly new is moved away, even if the search was cut.
	g := newGround(t)
	g.cut = true
	g.launch()
	dirstest.Plant(t, g.tree, ".git/config")
	if out := g.sweep.End(); len(out.Moved) != 1 {
		t.Errorf("%+v", out)
	}
}

func TestSweepAllowed(t *testing.T) {
	for _, c := range []struct {
		allowed []string
		stays   []string
		goes    []string
	}{
		{nil, nil, []string{".git", "x/.git", ".envrc"}},
		{[]string{"TREE/.git"}, []string{".git"}, []string{"x/.git", ".envrc"}},
		{[]string{"**/.git"}, []string{".git", "x/.git"}, []string{".envrc"}},
		{[]string{".git", "TREE/.envrc"}, []string{".git", "x/.git", ".envrc"}, nil},
		{[]string{"TREE/x"}, []string{"x/.git"}, []string{".git", ".envrc"}},
		{[]string{"TREE/x/.g"}, nil, []string{".git", "x/.git", ".envrc"}},
	} {
		g := newGround(t)
		for _, a := range c.allowed {
			g.w.Allowed = append(g.w.Allowed, strings.ReplaceAll(a, "TREE", g.tree))
		}
		g.launch()
		dirstest.Plant(t, g.tree, ".git/config", "x/.git/hooks/h", ".envrc")
		out := g.sweep.End()
		slices.Sort(c.goes)
		if got := g.moved(out); !slices.Equal(got, c.goes) {
			t.Errorf("%q: %q went, want %q", c.allowed, got, c.goes)
		}
		var repos []string
		for _, s := range c.stays {
			if !dirstest.Exists(g.tree + "/" + s) {
				t.Errorf("%q: %s is gone", c.allowed, s)
			}
			if filepath.Base(s) == ".git" {
				repos = append(repos, g.tree+"/"+s)
			}
		}
		if !slices.Equal(out.Repositories, repos) {
			t.Errorf("%q: new repositories %q, want %q", c.allowed, out.Repositories, repos)
		}
	}
}

func TestSweepListsBareRepositories(t *testing.T) {
	g := newGround(t, "old/HEAD", "old/objects/", "old/refs/")
	g.launch()
	dirstest.Plant(t, g.tree, "new/HEAD", "new/objects/", "new/refs/", "not/HEAD")
	if out := g.sweep.End(); !slices.Equal(out.Repositories, []string{g.tree + "/new"}) || len(out.Moved) != 0 {
		t.Errorf("%+v", out)
	}
}

// TestSweepTakesRepositoriesApart: a directory with other files in it does not stay a repository if
// it was none at launch.
func TestSweepTakesRepositoriesApart(t *testing.T) {
	g := newGround(t, "src/x", "was/HEAD", "was/objects/", "was/refs/", "was/x", "half/HEAD", "half/x", "top")
	g.w.Git = []string{g.tree + "/was"}
	g.launch()
	dirstest.Plant(t, g.tree, "HEAD", "commondir", "src/HEAD", "src/objects/", "src/refs/", "src/config", "was/ORIG_HEAD",
		"new/HEAD", "new/commondir", "new/x",
		"own/HEAD", "own/objects/", "own/refs/", "own/COMMIT_EDITMSG", "own/lfs/", "own/gc.pid", "half/objects/", "half/refs/", "free/HEAD", "free/x", "not/HEAD", "not/objects/", "not/x")
	out := g.sweep.End()
	if got, want := g.moved(out), []string{"HEAD", "half/objects", "half/refs", "new/HEAD", "src/HEAD"}; !slices.Equal(got, want) {
		t.Errorf("%q went, want %q: %+v", got, want, out)
	}
	g = newGround(t, "src/x")
	g.cut = true
	g.launch()
	dirstest.Plant(t, g.tree, "src/HEAD", "src/objects/", "src/refs/")
	if out = g.sweep.End(); len(out.Moved) != 0 || len(out.Cuts) != 1 || !slices.Equal(out.Repositories, []string{g.tree + "/src"}) {
		t.Errorf("after a cut search: %+v", out)
	}
}

func TestSweepAt(t *testing.T) {
	g := newGround(t, "sub/")
	g.launch()
	dirstest.Plant(t, g.tree, "sub/.git/config", "sub/other")
	for _, p := range []string{"/etc/passwd", g.tree, g.tree + "/none/.git", g.tree + "/sub/other", g.tree + "/sub/.git/../../x", "", "relative"} {
		if out := g.sweep.At(p); len(out.Moved)+len(out.Cuts) != 0 {
			t.Errorf("%s: %+v", p, out)
		}
	}
	if out := g.sweep.At(g.tree + "/sub/.git"); len(out.Moved) != 1 || dirstest.Exists(g.tree+"/sub/.git") {
		t.Errorf("%+v", out)
	}
	// The sweep does not follow a link on the way.
	outside := dirstest.Temp(t)
	dirstest.Plant(t, outside, ".git/config")
	if err := os.Symlink(outside, g.tree+"/link"); err != nil {
		t.Fatal(err)
	}
	if out := g.sweep.At(g.tree + "/link/.git"); len(out.Moved) != 0 || !dirstest.Exists(outside+"/.git/config") {
		t.Errorf("%+v", out)
	}
}

func TestSweepSeveralTrees(t *testing.T) {
	g := newGround(t, "inner/")
	second := dirstest.Temp(t)
	dirstest.Plant(t, second, "file")
	g.w.Trees = append(g.w.Trees, g.tree+"/inner", second, second+"/file")
	g.launch()
	dirstest.Plant(t, g.tree, "inner/.git/x", "inner/.vscode/x")
	dirstest.Plant(t, second, ".envrc")
	out := g.sweep.End()
	// .vscode is protected at the top of each tree, and inner/ is a tree as well.
	if len(out.Moved) != 3 || dirstest.Exists(second+"/.envrc") || dirstest.Exists(g.tree+"/inner/.git") || dirstest.Exists(g.tree+"/inner/.vscode") {
		t.Errorf("%+v", out)
	}
}

// TestSweepTreeOfAProtectedName: a tree that lies in another tree under a protected name stays
// where it is, and names in it are relative to its own top. A directory in its place does not stay.
func TestSweepTreeOfAProtectedName(t *testing.T) {
	g := newGround(t, ".codex/sessions/")
	top := g.tree + "/.codex"
	g.w.Trees = append(g.w.Trees, top)
	g.w.Unmade = []string{top + "/config.toml"}
	g.launch()
	for path, want := range map[string]bool{top + "/config.toml": true, top + "/sessions/new": false, top + "/new/.git": true, top + "/.envrc": true,
		g.tree + "/.gemini/new": true, g.tree + "/new": false} {
		if g.sweep.Forbids(path) != want {
			t.Errorf("%s: forbidden is %v", path, !want)
		}
	}
	for name, want := range map[string]bool{"config.toml": true, ".git": true, "log": false} {
		if g.sweep.Part(name) != want {
			t.Errorf("%s: a part is %v", name, !want)
		}
	}
	dirstest.Plant(t, top, "sessions/s", "log", "config.toml", "new/.git/config")
	if out := g.sweep.At(top); len(out.Moved) != 0 {
		t.Errorf("%+v", out)
	}
	if out := g.sweep.At(top + "/config.toml"); len(out.Moved) != 1 || dirstest.Exists(top+"/config.toml") {
		t.Errorf("%+v", out)
	}
	out := g.sweep.End()
	if len(out.Moved) != 1 || dirstest.Exists(top+"/new/.git") || !dirstest.Exists(top+"/sessions/s") || !dirstest.Exists(top+"/log") {
		t.Errorf("%+v", out)
	}
	if err := os.Rename(top, g.tree+"/elsewhere"); err != nil {
		t.Fatal(err)
	}
	dirstest.Plant(t, top, "config.toml")
	dirstest.Plant(t, g.tree, "elsewhere/.envrc")
	if out := g.sweep.End(); dirstest.Exists(top) || dirstest.Exists(g.tree+"/elsewhere/.envrc") {
		t.Errorf("%+v", out)
	}
}

func TestHoldRefuses(t *testing.T) {
	dirstest.NoLeak(t)
	dir := dirstest.Temp(t)
	dirstest.Plant(t, dir, "a/")
	if err := os.Symlink(dir+"/a", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{dir + "/none", dir + "/link"} {
		if h, err := Hold(wrap.Watch{Trees: []string{dir, p}}); err == nil {
			h.Close()
			t.Errorf("%s is held", p)
		}
	}
}

func BenchmarkHold(b *testing.B) {
	w := wrap.Watch{Trees: []string{dirstest.Temp(b)}}
	for b.Loop() {
		h, err := Hold(w)
		if err != nil {
			b.Fatal(err)
		}
		h.Close()
	}
}

// BenchmarkSweepEnd walks typical trees: small ones, and one with many directories.
func BenchmarkSweepEnd(b *testing.B) {
	for _, count := range []int{1, 100, 3000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			dir := dirstest.Temp(b)
			for i := range count {
				dirstest.Plant(b, dir, fmt.Sprintf("%d/%d/a", i%50, i), fmt.Sprintf("%d/%d/b", i%50, i))
			}
			time.Sleep(20 * time.Millisecond)
			h, err := Hold(wrap.Watch{Trees: []string{dir}})
			if err != nil {
				b.Fatal(err)
			}
			defer h.Close()
			for b.Loop() {
				s := Sweep{Held: h, Match: match}
				if out := s.End(); len(out.Cuts)+len(out.Moved) != 0 {
					b.Fatalf("%+v", out)
				}
			}
		})
	}
}

func match(rel string) bool {
	_, ok := defaults.IsProtectedName(rel)
	return ok
}
