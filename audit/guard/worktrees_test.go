package guard

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/dirs/dirstest"
	"sbx/wrap"
)

const admin = ".git/worktrees/wt"

// linked returns a ground with a linked worktree, and the Worktrees for it.
func linked(t *testing.T) (*ground, *Worktrees) {
	t.Helper()
	g := newGround(t, "wt/.git", "wt/file", "other/", admin+"/commondir", admin+"/gitdir", admin+"/HEAD", ".git/config")
	g.known = []string{g.tree + "/.git"}
	for _, p := range []string{"wt/.git", admin + "/commondir", admin + "/gitdir"} {
		g.w.Protected = append(g.w.Protected, wrap.Protected{Path: g.tree + "/" + p, Kind: wrap.File})
		g.known = append(g.known, g.tree+"/"+p)
	}
	g.w.Worktrees = []wrap.Worktree{{Admin: g.tree + "/" + admin, Dots: []string{g.tree + "/wt/.git"}}}
	g.w.Git = []string{g.tree + "/.git", g.tree + "/" + admin}
	g.launch()
	x := NewWatch(g.w, g.sweep)
	t.Cleanup(x.Close)
	if err := x.Begin(time.Now()); err != nil {
		t.Fatal(err)
	}
	return g, NewWorktrees(g.sweep, x)
}

// remove requests a removal like a command that reached the directory dir.
func (g *ground) remove(w *Worktrees, path, dir string, wantsDir bool) string {
	g.t.Helper()
	fd, err := unix.Open(g.tree+"/"+dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		g.t.Fatal(err)
	}
	defer unix.Close(fd)
	e, ours := w.Remove(g.tree+"/"+path, fd, wantsDir)
	switch {
	case !ours:
		return "not ours"
	case e != 0:
		return unix.ErrnoName(e)
	}
	return "ok"
}

func (g *ground) removes(w *Worktrees, rows ...[3]string) {
	g.t.Helper()
	for _, r := range rows {
		path, wantsDir := r[0], r[0][len(r[0])-1] == '/'
		if wantsDir {
			path = path[:len(path)-1]
		}
		if got := g.remove(w, path, r[1], wantsDir); got != r[2] {
			g.t.Errorf("%s in %s: %s, want %s", r[0], r[1], got, r[2])
		}
	}
}

// TestWorktreeGoesInOrder: the .git file goes first, and the directory in the repository as a
// whole. Names that are free afterwards must not be created.
func TestWorktreeGoesInOrder(t *testing.T) {
	g, w := linked(t)
	g.removes(w, [][3]string{
		{admin + "/commondir", admin, "not ours"}, {admin + "/", ".git/worktrees", "not ours"}, {"wt/", ".", "not ours"},
		{".git/worktrees/", ".git", "ENOTEMPTY"}, {".git/config", ".git", "not ours"}, {"wt/file", "wt", "not ours"}, {"wt/.git/", "wt", "not ours"},
		{"wt/.git", "wt", "ok"},
		{"wt/.git", "wt", "not ours"}, {"wt/", ".", "ENOTEMPTY"}, {admin + "/HEAD", admin, "not ours"},
		{admin + "/commondir", admin, "ok"}, {admin + "/", ".git/worktrees", "ENOTEMPTY"},
	}...)
	if !dirstest.Exists(g.tree + "/" + admin + "/commondir") {
		t.Fatal("commondir is gone before the directory is")
	}
	g.forbids(true, "wt/.git", admin+"/config", admin+"/hooks")
	for _, p := range []string{"wt/file", admin + "/HEAD"} {
		if err := os.Remove(g.tree + "/" + p); err != nil {
			t.Fatal(err)
		}
	}
	g.removes(w, [3]string{admin + "/", ".git/worktrees", "ENOTEMPTY"}, [3]string{admin + "/gitdir", admin, "ok"},
		[3]string{admin + "/", ".git/worktrees", "ok"}, [3]string{"wt/", ".", "ok"}, [3]string{".git/worktrees/", ".git", "ok"})
	if got := w.Removed(); len(got) != 1 || got[0] != g.tree+"/"+admin {
		t.Errorf("%q", got)
	}
	g.forbids(true, "wt/.git", admin, admin+"/commondir")
	dirstest.Plant(t, g.tree, "wt/.git", admin+"/config", admin+"/commondir")
	appeared := 0
	for _, n := range w.watch.Drain(time.Now()) {
		if n.What == audit.Appeared {
			appeared++
		}
	}
	if appeared == 0 {
		t.Error("the watch takes what is new for the host's")
	}
	g.swept("wt/.git", admin+"/config", admin+"/commondir")
	for _, c := range w.watch.Finish(time.Now()) {
		if len(c.Events) != 1 || c.Events[0].What != audit.RemovedInside || c.Unprotected != 0 {
			t.Errorf("%+v", c)
		}
	}
}

// TestWorktreesThatAreSwapped: Remove leaves a link, a directory that the command reached by
// another way, and a file that has replaced another.
func TestWorktreesThatAreSwapped(t *testing.T) {
	for name, swap := range map[string]func(g *ground){
		"a directory for a link": func(g *ground) {
			g.rename("wt", "real")
			g.link("real", "wt")
		},
		"a file for another": func(g *ground) {
			dirstest.Plant(g.t, g.tree, "new")
			g.rename("new", "wt/.git")
		},
		"a file for a link": func(g *ground) {
			g.rename("wt/.git", "old")
			g.link("../old", "wt/.git")
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, w := linked(t)
			swap(g)
			g.removes(w, [3]string{"wt/.git", "wt", "not ours"}, [3]string{admin + "/commondir", admin, "not ours"}, [3]string{admin + "/", ".git/worktrees", "not ours"})
			if !dirstest.Exists(g.tree + "/wt/.git") {
				t.Error("it was removed")
			}
		})
	}
	g, w := linked(t)
	g.removes(w, [3]string{"wt/.git", "other", "not ours"}, [3]string{"wt/.git", "wt", "ok"}, [3]string{admin + "/commondir", "other", "not ours"},
		[3]string{admin + "/", "other", "not ours"}, [3]string{admin + "/commondir", admin, "ok"})
	g.rename(admin, ".git/aside")
	g.link("../aside", admin)
	g.removes(w, [3]string{admin + "/gitdir", admin, "not ours"}, [3]string{admin + "/", ".git/worktrees", "ENOTDIR"})
}

func (g *ground) link(to, name string) {
	g.t.Helper()
	if err := os.Symlink(to, g.tree+"/"+name); err != nil {
		g.t.Fatal(err)
	}
}

// TestWorktreeDirThatStays: a directory that cannot be removed in the end has its commondir again:
// without that file it would be a repository.
func TestWorktreeDirThatStays(t *testing.T) {
	dirstest.AsUser(t)
	g, w := linked(t)
	if err := os.Remove(g.tree + "/" + admin + "/HEAD"); err != nil {
		t.Fatal(err)
	}
	g.removes(w, [3]string{"wt/.git", "wt", "ok"}, [3]string{admin + "/commondir", admin, "ok"}, [3]string{admin + "/gitdir", admin, "ok"})
	for _, mode := range []os.FileMode{0o555, 0o755} {
		if err := os.Chmod(g.tree+"/.git/worktrees", mode); err != nil {
			t.Fatal(err)
		}
		want := "ok"
		if mode == 0o555 {
			want = "EACCES"
		}
		g.removes(w, [3]string{admin + "/", ".git/worktrees", want})
		if b, _ := os.ReadFile(g.tree + "/" + admin + "/commondir"); mode == 0o555 && string(b) != admin+"/commondir" {
			t.Errorf("commondir holds %q", b)
		}
	}
}
