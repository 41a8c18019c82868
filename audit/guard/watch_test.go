package guard

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/dirs/dirstest"
	"sbx/wrap"
)

// watch begins to watch a ground.
func (g *ground) watch() *Watch {
	g.t.Helper()
	if g.sweep == nil {
		g.launch()
	}
	x := NewWatch(g.w, g.sweep)
	if err := x.Begin(time.Unix(1, 0)); err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(x.Close)
	return x
}

// drain waits for events and returns them in the form "what path".
func (g *ground) drain(x *Watch) []string {
	g.t.Helper()
	p := []unix.PollFd{{Fd: int32(x.FD()), Events: unix.POLLIN}}
	if n, err := unix.Poll(p, 2000); n != 1 && err == nil {
		return nil
	}
	var out []string
	for _, n := range x.Drain(time.Unix(1, 0)) {
		rel, _ := filepath.Rel(g.tree, n.Path)
		out = append(out, n.What.String()+" "+rel)
	}
	return out
}

func (g *ground) expect(x *Watch, what string, do func() error, want ...string) {
	g.t.Helper()
	if err := do(); err != nil {
		g.t.Fatal(err)
	}
	if got := g.drain(x); strings.Join(got, "; ") != strings.Join(want, "; ") {
		g.t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func TestWatchProtectedFiles(t *testing.T) {
	g := newGround(t, ".git/config", ".git/hooks/", "secret")
	g.w.Protected = []wrap.Protected{
		{Path: g.tree + "/.git", Kind: wrap.Dir, Shared: true},
		{Path: g.tree + "/.git/config", Kind: wrap.File},
		{Path: g.tree + "/.git/hooks", Kind: wrap.Dir},
		{Path: g.tree + "/gone/away", Kind: wrap.File},
	}
	g.w.Masked = []string{g.tree + "/secret"}
	x := g.watch()
	write := func(name, text string) func() error {
		return func() error { return os.WriteFile(g.tree+"/"+name, []byte(text), 0o644) }
	}
	rename := func(from, to string) func() error {
		return func() error { return os.Rename(g.tree+"/"+from, g.tree+"/"+to) }
	}
	if err := write(".git/config.lock", "new")(); err != nil {
		t.Fatal(err)
	}
	if got := g.drain(x); len(got) != 0 {
		t.Errorf("a lock file: %q", got)
	}
	g.expect(x, "git config", rename(".git/config.lock", ".git/config"), "replaced .git/config")
	g.expect(x, "removed", func() error { return os.Remove(g.tree + "/.git/config") }, "removed .git/config")
	g.expect(x, "made again", write(".git/config", ".git/config"), "replaced .git/config")
	g.expect(x, "renamed away", rename(".git/hooks", ".git/hooks.old"), "removed .git/hooks")
	g.expect(x, "masked", rename("secret", "secret2"), "removed secret")

	changes := x.Finish(time.Unix(2, 0))
	by := map[string]audit.Change{}
	for _, c := range changes {
		by[strings.TrimPrefix(c.Path, g.tree+"/")] = c
	}
	c := by[".git/config"]
	if len(c.Events) != 3 || c.DigestBefore == "" || c.DigestBefore != c.DigestAfter {
		t.Errorf("the content is the same as at launch: %+v", c)
	}
	if len(by[".git/hooks"].Events) != 1 || len(by["secret"].Events) != 1 || len(changes) != 3 {
		t.Errorf("%+v", changes)
	}
}

func TestWatchDigests(t *testing.T) {
	g := newGround(t, "same", "edited", "big", "removed", "target")
	if err := os.Truncate(g.tree+"/big", maxDigestSize+1); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", g.tree+"/link"); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"same", "edited", "big", "removed"} {
		g.w.Protected = append(g.w.Protected, wrap.Protected{Path: g.tree + "/" + n, Kind: wrap.File})
	}
	g.w.Protected = append(g.w.Protected, wrap.Protected{Path: g.tree + "/link", Kind: wrap.File, Link: true})
	for i := range maxDigests {
		n := fmt.Sprint("more", i)
		dirstest.Plant(t, g.tree, n)
		g.w.Protected = append(g.w.Protected, wrap.Protected{Path: g.tree + "/" + n, Kind: wrap.File})
	}
	x := g.watch()
	for _, n := range []string{"edited", "big", "target", fmt.Sprint("more", maxDigests-1)} {
		if err := os.WriteFile(g.tree+"/"+n, []byte("edited in place"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(g.tree + "/removed"); err != nil {
		t.Fatal(err)
	}
	x.Drain(time.Now())
	changes := x.Finish(time.Unix(2, 0))
	if len(changes) != 2 || !strings.HasSuffix(changes[0].Path, "/edited") || !strings.HasSuffix(changes[1].Path, "/removed") ||
		changes[0].DigestAfter == "" || changes[1].DigestAfter != "" {
		t.Errorf("%+v", changes)
	}
}

func TestWatchAppeared(t *testing.T) {
	g := newGround(t, "sub/deep/", "node_modules/x/", ".git/objects/aa/", ".claude/")
	g.known = []string{g.tree + "/.git"}
	g.w.Allowed = []string{g.tree + "/.envrc"}
	x := g.watch()
	for x.Widen(10) {
	}
	mk := func(name string) func() error {
		return func() error { return os.MkdirAll(g.tree+"/"+name, 0o755) }
	}
	touch := func(name string) func() error {
		return func() error { return os.WriteFile(g.tree+"/"+name, nil, 0o644) }
	}
	g.expect(x, "top", mk(".vscode"), "appeared .vscode")
	g.expect(x, "deep", mk("sub/deep/.git"), "appeared sub/deep/.git")
	g.expect(x, "beneath", touch(".claude/settings.json"), "appeared .claude/settings.json")
	g.expect(x, "in .git", touch(".git/config.worktree"), "appeared .git/config.worktree")
	g.expect(x, "allowed", touch(".envrc"))
	g.expect(x, "of no interest", touch("sub/file"))
	// The watch cannot follow so fast: it looks into the new directory.
	g.expect(x, "directory with it", mk("fresh/.git"), "appeared fresh/.git")
	if err := mk("one/two/three/.git")(); err != nil {
		t.Fatal(err)
	}
	got := g.drain(x)
	for x.Widen(10) {
	}
	if len(got) != 0 {
		t.Errorf("%q", got)
	}
	// Only the sweep finds names that are more than one level deeper.
	if out := g.sweep.End(); len(out.Moved) != 6 {
		t.Errorf("%+v", out)
	}
}

func TestWatchThenSweepAt(t *testing.T) {
	g := newGround(t, "sub/")
	x := g.watch()
	for x.Widen(10) {
	}
	dirstest.Plant(t, g.tree, "sub/.git/config")
	time.Sleep(10 * time.Millisecond)
	var out audit.Swept
	for _, n := range x.Drain(time.Now()) {
		if n.What == audit.Appeared {
			out.Add(g.sweep.At(n.Path))
		}
	}
	if got := g.moved(out); len(got) != 1 || got[0] != "sub/.git" {
		t.Errorf("%q", got)
	}
	if out := g.sweep.End(); len(out.Moved) != 0 {
		t.Errorf("%+v", out)
	}
}

// TestWatchRealGit checks a case of docs/reference/spec.md: a nested repository with a program in
// its configuration never stays.
func TestWatchRealGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("needs git")
	}
	g := newGround(t)
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(git, args...)
		cmd.Dir = g.tree
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + g.run, "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	run("init", "-q")
	g.known = []string{g.tree + "/.git"}
	g.w.Protected = []wrap.Protected{{Path: g.tree + "/.git", Kind: wrap.Dir, Shared: true}, {Path: g.tree + "/.git/config", Kind: wrap.File}}
	x := g.watch()
	run("config", "user.name", "me")
	if got := g.drain(x); strings.Join(got, ";") != "replaced .git/config" {
		t.Errorf("%q", got)
	}
	run("init", "-q", "ev")
	run("-C", "ev", "config", "core.fsmonitor", "CMD")
	dirstest.Plant(t, g.tree, "file")
	run("add", "file")
	out := g.sweep.End()
	if got := g.moved(out); len(got) != 1 || got[0] != "ev/.git" {
		t.Errorf("%q", got)
	}
	run("status")
	if c := x.Finish(time.Unix(2, 0)); len(c) != 1 || c[0].DigestBefore == c[0].DigestAfter {
		t.Errorf("%+v", c)
	}
}

func TestWatchIsBounded(t *testing.T) {
	g := newGround(t)
	for i := range 2 * maxWatched {
		dirstest.Plant(t, g.tree, fmt.Sprintf("d%d/", i))
	}
	x := g.watch()
	for x.Widen(100) {
	}
	if len(x.dirs) > maxWatched {
		t.Errorf("%d directories watched", len(x.dirs))
	}
	for i := range 2 * maxWatched {
		dirstest.Plant(t, g.tree, fmt.Sprintf("d%d/e/", i))
	}
	for range 10 {
		x.Drain(time.Now())
	}
	if len(x.dirs) > maxWatched {
		t.Errorf("%d directories watched after more were made", len(x.dirs))
	}
}

// TestWatchOverflow: after an overflow the watch looks for names that the kernel did not report,
// and reports each once.
func TestWatchOverflow(t *testing.T) {
	g := newGround(t, "sub/")
	x := g.watch()
	overflow := func() (all []string) {
		out := x.take(nil, []byte{255, 255, 255, 255, 0, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, time.Now())
		for _, n := range out {
			all = append(all, n.What.String()+" "+strings.TrimPrefix(n.Path, g.tree+"/"))
		}
		return all
	}
	if got := overflow(); !slices.Equal(got, []string{"overflow "}) {
		t.Errorf("%q", got)
	}
	dirstest.Plant(t, g.tree, "sub/.git/")
	if got := overflow(); !slices.Equal(got, []string{"overflow ", "appeared sub/.git"}) {
		t.Errorf("%q", got)
	}
	if got := overflow(); !slices.Equal(got, []string{"overflow "}) {
		t.Errorf("told again: %q", got)
	}
}
