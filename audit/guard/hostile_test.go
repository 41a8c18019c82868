package guard

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
	"sbx/internal/dirs/dirstest"
)

// shallow flattens a deep tree, which os.RemoveAll removes too slowly.
func shallow(dir, name string) {
	for dirstest.Exists(dir + "/" + name + "/" + name) {
		if os.Rename(dir+"/"+name+"/"+name, dir+"/up") != nil || os.RemoveAll(dir+"/"+name) != nil || os.Rename(dir+"/up", dir+"/"+name) != nil {
			return
		}
	}
}

func TestSweepDeepTree(t *testing.T) {
	g := newGround(t)
	g.launch()
	inner := dirstest.Deepen(t, g.tree, "d", dirstest.Levels())
	defer shallow(g.tree, "d")
	if err := unix.Mkdirat(inner, ".git", 0o755); err != nil {
		t.Fatal(err)
	}
	unix.Close(inner)
	dirstest.Plant(t, g.tree, "d/d/d/.git/config")
	out := g.sweep.End()
	if got := g.moved(out); len(got) != 1 || got[0] != "d/d/d/.git" {
		t.Errorf("%q", got)
	}
	if len(out.Cuts) != 1 || !strings.Contains(out.Cuts[0], "too deep") || len(out.Cuts[0]) > 8<<10 {
		t.Errorf("%d cuts: %.200q", len(out.Cuts), out.Cuts)
	}
}

func TestSweepDeepProtectedName(t *testing.T) {
	g := newGround(t)
	g.launch()
	if err := os.Mkdir(g.tree+"/.git", 0o755); err != nil {
		t.Fatal(err)
	}
	unix.Close(dirstest.Deepen(t, g.tree+"/.git", "d", dirstest.Levels()))
	out := g.sweep.End()
	if got := g.moved(out); len(got) != 1 {
		t.Errorf("%q, %q", got, out.Cuts)
	}
	shallow(g.run+"/swept/1-.git", "d")
}

func TestSweepManyEntries(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 100,000 files")
	}
	g := newGround(t)
	g.launch()
	fd, err := dirs.OpenRealDir(g.tree)
	if err != nil {
		t.Fatal(err)
	}
	dirstest.Plant(t, g.tree, "file")
	for i := range 100_000 {
		if err := unix.Linkat(fd, "file", fd, fmt.Sprint("x", i), 0); err != nil {
			if err == unix.EMLINK {
				_ = unix.Unlinkat(fd, "file", 0)
				dirstest.Plant(t, g.tree, "file")
				continue
			}
			t.Fatal(err)
		}
	}
	unix.Close(fd)
	dirstest.Plant(t, g.tree, ".git/x", "z/.git/x")
	start := time.Now()
	out := g.sweep.End()
	if len(out.Moved) != 2 || len(out.Cuts) != 0 || time.Since(start) > maxSeconds*time.Second {
		t.Errorf("%+v after %v", out, time.Since(start))
	}
}

// TestSweepManyMoves: the sweep moves all names away, though it does not list all of them.
func TestSweepManyMoves(t *testing.T) {
	g := newGround(t)
	g.launch()
	const listed = 200
	for i := range 3 * listed {
		dirstest.Plant(t, g.tree, fmt.Sprintf("%d/.git", i))
	}
	out := g.sweep.End()
	if len(out.Moved) != listed || out.Omitted != 2*listed {
		t.Errorf("%d listed, %d omitted", len(out.Moved), out.Omitted)
	}
	if left, _ := filepath.Glob(g.tree + "/*/.git"); len(left) != 0 {
		t.Errorf("%d are left", len(left))
	}
}

func TestSweepUnreadableDir(t *testing.T) {
	dirstest.AsUser(t)
	g := newGround(t)
	g.launch()
	dirstest.Plant(t, g.tree, "closed/.git/x", "readonly/.git/x", "z/.git/x")
	for name, mode := range map[string]os.FileMode{"closed": 0, "readonly/.git": 0o500, "readonly": 0o500, "z/.git": 0} {
		if err := os.Chmod(g.tree+"/"+name, mode); err != nil {
			t.Fatal(err)
		}
	}
	defer os.Chmod(g.tree+"/closed", 0o700)
	out := g.sweep.End()
	if got := g.moved(out); strings.Join(got, " ") != "closed/.git readonly/.git z/.git" || len(out.Cuts) != 0 {
		t.Errorf("%q, cuts %q", got, out.Cuts)
	}
	if fi, err := os.Stat(g.tree + "/readonly"); err != nil || fi.Mode().Perm() != 0o500 {
		t.Errorf("the directory's mode is now %v, %v", fi.Mode(), err)
	}
	_ = os.Chmod(g.tree+"/readonly", 0o700)
}

// runElsewhere puts the run's directory on another file system than the tree.
func (g *ground) runElsewhere() {
	g.t.Helper()
	run, err := os.MkdirTemp("/dev/shm", "sbx-test")
	if err != nil {
		g.t.Skip(err)
	}
	g.t.Cleanup(func() { os.RemoveAll(run) })
	var a, b unix.Stat_t
	if unix.Stat(g.tree, &a) != nil || unix.Stat(run, &b) != nil || a.Dev == b.Dev {
		g.t.Skip("one file system for both")
	}
	g.run = run
}

// TestSweepToAnotherMount: the sweep copies, since a rename to another file system fails.
func TestSweepToAnotherMount(t *testing.T) {
	g := newGround(t)
	g.runElsewhere()
	g.launch()
	dirstest.Plant(t, g.tree, ".git/config", ".git/hooks/pre-commit", ".envrc", "huge/.git/big")
	if err := os.Symlink("/etc/passwd", g.tree+"/.git/link"); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(g.tree+"/.git/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(g.tree+"/.git/hooks", 0o100); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(g.tree+"/huge/.git/big", maxCopyBytes+1); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(g.tree+"/.vscode", 0o755); err != nil {
		t.Fatal(err)
	}
	unix.Close(dirstest.Deepen(t, g.tree+"/.vscode", "d", 3*maxCopyDepth))
	out := g.sweep.End()
	got := g.moved(out)
	if strings.Join(got, " ") != ".envrc .git .vscode huge/.git" {
		t.Errorf("%q", got)
	}
	to := map[string]string{}
	for _, m := range out.Moved {
		rel, _ := filepath.Rel(g.tree, m.Path)
		to[rel] = m.MovedTo
	}
	if b, err := os.ReadFile(to[".git"] + "/hooks/pre-commit"); err != nil || len(b) == 0 {
		t.Errorf("%q, %v", b, err)
	}
	if l, err := os.Readlink(to[".git"] + "/link"); err != nil || l != "/etc/passwd" {
		t.Errorf("%q, %v", l, err)
	}
	if dirstest.Exists(to[".git"] + "/fifo") {
		t.Error("a FIFO was copied")
	}
	var st unix.Stat_t
	if err := unix.Stat(to["huge/.git"]+"/big", &st); err != nil || st.Size != maxCopyBytes+1 || st.Blocks > 16 {
		t.Errorf("a file of holes went to %s: %d bytes in %d blocks, %v", to["huge/.git"], st.Size, st.Blocks, err)
	}
	// A directory that is too large to copy is still renamed, and reported.
	if to := to[".vscode"]; !strings.HasPrefix(filepath.Base(to), ".sbx-swept-") || !strings.Contains(strings.Join(out.Cuts, "\n"), to) {
		t.Errorf(".vscode went to %s; cuts %q", to, out.Cuts)
	}
	if list, _ := filepath.Glob(g.tree + "/.sbx-swept-*"); len(list) != 1 {
		t.Errorf("%q", list)
	}
}

// TestSweepCopiesAreBounded: names beyond the bounds are still renamed.
func TestSweepCopiesAreBounded(t *testing.T) {
	for _, c := range []struct {
		used   copier
		copies int
	}{{copier{}, 3}, {copier{names: maxCopies*maxCopyNames - 1}, 1}, {copier{bytes: maxCopies * maxCopyBytes}, 0}} {
		g := newGround(t)
		g.runElsewhere()
		g.launch()
		g.sweep.copied = c.used
		dirstest.Plant(t, g.tree, ".envrc", ".mcp.json", "a/.git")
		out := g.sweep.End()
		copies := 0
		for _, m := range out.Moved {
			if dirstest.Exists(m.Path) || !dirstest.Exists(m.MovedTo) {
				t.Errorf("%+v", m)
			}
			if strings.HasPrefix(m.MovedTo, g.run) {
				copies++
			}
		}
		if len(out.Moved) != 3 || copies != c.copies || len(out.Cuts) != 3-c.copies {
			t.Errorf("after %+v: %d copies; %+v", c.used, copies, out)
		}
	}
}

func TestSweepWithoutRunDir(t *testing.T) {
	g := newGround(t)
	g.launch()
	g.sweep.Run = func() (int, string, error) { return -1, "", unix.EROFS }
	dirstest.Plant(t, g.tree, ".git/config", "x/.envrc")
	out := g.sweep.End()
	if len(out.Moved) != 1 || dirstest.Exists(g.tree+"/.git") || len(out.Cuts) != 1 {
		t.Errorf("%+v", out)
	}
}

// TestSweepAtToAnotherMount: At only renames, since a copy may take long.
func TestSweepAtToAnotherMount(t *testing.T) {
	g := newGround(t)
	run, err := os.MkdirTemp("/dev/shm", "sbx-test")
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(run)
	g.run = run
	g.launch()
	dirstest.Plant(t, g.tree, "a/.git/config", "b/.git/config")
	for _, p := range []string{"a/.git", "b/.git"} {
		if out := g.sweep.At(g.tree + "/" + p); len(out.Moved)+len(out.Cuts) != 0 && len(out.Moved) != 1 || dirstest.Exists(g.tree+"/"+p) {
			t.Errorf("%+v", out)
		}
	}
	if err := os.RemoveAll(g.tree + "/b"); err != nil { // the command removes it again
		t.Fatal(err)
	}
	out := g.sweep.End()
	if len(out.Moved) == 1 && (!dirstest.Exists(out.Moved[0].MovedTo+"/config") || out.Moved[0].Path != g.tree+"/a/.git") {
		t.Errorf("%+v", out)
	}
	if left, _ := filepath.Glob(g.tree + "/*/.sbx-swept-*"); len(left) != 0 {
		t.Errorf("%q", left)
	}
	var a, b unix.Stat_t
	if unix.Stat(g.tree, &a) == nil && unix.Stat(run, &b) == nil && a.Dev != b.Dev && (len(out.Moved) != 1 || len(out.Cuts) != 1) {
		t.Errorf("%+v", out)
	}
}

// TestSweepDoesNotEnterMounts: a mount in a tree is reported and not entered.
func TestSweepDoesNotEnterMounts(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: mounts a tmpfs")
	}
	g := newGround(t, "m/")
	if err := unix.Mount("tmpfs", g.tree+"/m", "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	defer unix.Unmount(g.tree+"/m", unix.MNT_DETACH)
	g.launch()
	dirstest.Plant(t, g.tree, "m/.git/config")
	out := g.sweep.End()
	if len(out.Moved) != 0 || len(out.Cuts) != 1 || !strings.Contains(out.Cuts[0], "another mount") || !dirstest.Exists(g.tree+"/m/.git") {
		t.Errorf("%+v", out)
	}
}

// TestSweepRace swaps directories for links to the outside while sweeps run.
// Nothing outside is ever moved, and nothing outside is ever listed.
func TestSweepRace(t *testing.T) {
	g := newGround(t)
	outside := dirstest.Temp(t)
	names := []string{".git/config", "a/.git/config", "a/b/.git/config", ".envrc", "d/.git/config"}
	dirstest.Plant(t, outside, names...)
	g.launch()
	var stop atomic.Bool
	var wg sync.WaitGroup
	for i := range 3 {
		dir := fmt.Sprintf("%s/s%d", g.tree, i)
		real, link := dir+".real", dir+".link"
		dirstest.Plant(t, g.tree, fmt.Sprintf("s%d.real/a/b/", i), fmt.Sprintf("s%d.real/d/", i))
		if err := os.Symlink(outside, link); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(real, dir); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for !stop.Load() {
				// The directory and the link change places in one step.
				_ = unix.Renameat2(unix.AT_FDCWD, dir, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
			}
		})
		wg.Go(func() {
			for !stop.Load() {
				_ = os.MkdirAll(dir+"/a/b/.git", 0o755) // sometimes outside, if the link is there
				_ = os.MkdirAll(g.tree+"/d/.git", 0o755)
			}
		})
	}
	sweeps, moved := 0, 0
	for end := time.Now().Add(time.Second); time.Now().Before(end); sweeps++ {
		out := g.sweep.End()
		for i := range 3 {
			out.Add(g.sweep.At(fmt.Sprintf("%s/s%d/.git", g.tree, i)))
			out.Add(g.sweep.At(fmt.Sprintf("%s/s%d/a/.git", g.tree, i)))
		}
		moved += len(out.Moved) + out.Omitted
	}
	stop.Store(true)
	wg.Wait()
	for _, n := range names {
		if b, err := os.ReadFile(outside + "/" + n); err != nil || string(b) != n {
			t.Errorf("outside, %s: %q, %v", n, b, err)
		}
	}
	if moved == 0 {
		t.Error("nothing was moved: the race was none")
	}
	t.Logf("%d sweeps, %d moves", sweeps, moved)
}
