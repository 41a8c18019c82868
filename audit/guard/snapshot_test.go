package guard

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/dirs/dirstest"
	"sbx/internal/view"
	"sbx/wrap"
)

func TestBeneathAndUnder(t *testing.T) {
	for _, c := range []struct {
		path, dir, rel string
		ok             bool
	}{
		{"/a/b", "/a", "b", true},
		{"/a/b/c", "/a", "b/c", true},
		{"/a", "/a", "", true},
		{"/ab", "/a", "", false},
		{"/a", "/a/b", "", false},
		{"/a", "/", "a", true},
		{"/", "/", "/", false},
		{"", "/a", "", false},
		{"/b/a", "/a", "", false},
	} {
		rel, ok := view.Relative(c.path, c.dir)
		if c.path == "/" && c.dir == "/" {
			continue // the root lies under no tree; nobody looks it up
		}
		if rel != c.rel || ok != c.ok {
			t.Errorf("%s beneath %s: %q, %v", c.path, c.dir, rel, ok)
		}
		if ok && view.Join(c.dir, rel) != c.path {
			t.Errorf("%s under %s is %s", rel, c.dir, view.Join(c.dir, rel))
		}
	}
}

func TestHeldFindsTheInnermost(t *testing.T) {
	h := &Snapshot{trees: []tree{{path: "/w"}, {path: "/w/in"}, {path: "/other"}}}
	for path, want := range map[string]string{
		"/w/.git": "/w .git", "/w/in/.git": "/w/in .git", "/w/inner/.git": "/w inner/.git", "/other/x": "/other x",
		"/w": "", "/w/in": "/w in", "/": "", "/wx/y": "", "": "",
	} {
		tr, rel := h.find(path)
		got := ""
		if tr != nil {
			got = tr.path + " " + rel
		}
		if got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

// TestAge has a row for each pair of times and a column for each kind of file system.
func TestAge(t *testing.T) {
	h := &Snapshot{at: unix.Timespec{Sec: 100, Nsec: 500}}
	at := func(sec int64, nsec uint32) unix.StatxTimestamp { return unix.StatxTimestamp{Sec: sec, Nsec: nsec} }
	const all = unix.STATX_BTIME | unix.STATX_CTIME
	for _, c := range []struct {
		name    string
		born    unix.StatxTimestamp
		changed unix.StatxTimestamp
		mask    uint32
		want    age
	}{
		{"made since", at(101, 0), at(101, 0), all, ageNew},
		{"made in the same tick", at(100, 500), at(100, 500), all, ageNew},
		{"made just before", at(100, 499), at(100, 499), all, ageOld},
		{"made before, changed since", at(99, 0), at(101, 0), all, ageUnsure},
		{"birth unknown, changed since", at(0, 0), at(101, 0), unix.STATX_CTIME, ageUnsure},
		{"birth unknown, not changed", at(0, 0), at(99, 0), unix.STATX_CTIME, ageOld},
		{"nothing known", at(0, 0), at(0, 0), 0, ageUnsure},
	} {
		st := unix.Statx_t{Btime: c.born, Ctime: c.changed, Mask: c.mask}
		if got := h.ageOf(&tree{clocked: true}, &st); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
		if got := h.ageOf(&tree{}, &st); got != ageUnsure {
			t.Errorf("%s, on a server's clock: %d", c.name, got)
		}
	}
	if got := (&Snapshot{}).ageOf(&tree{clocked: true}, &unix.Statx_t{Mask: all}); got != ageUnsure {
		t.Errorf("with no time of launch: %d", got)
	}
}

// TestAgeOnThisFileSystem: the kernel sets times as ageOf expects.
func TestAgeOnThisFileSystem(t *testing.T) {
	g := newGround(t, "old", "touched", "renamed", "back/")
	g.launch()
	tr := &g.sweep.Held.trees[0]
	if !tr.clocked {
		t.Skip("the times of this file system are not trusted")
	}
	dirstest.Plant(t, g.tree, "new")
	past := time.Unix(1000, 0)
	for _, err := range []error{
		os.Chtimes(g.tree+"/new", past, past), // a time that a program can set does not count
		os.Chmod(g.tree+"/touched", 0o600),
		os.Rename(g.tree+"/renamed", g.tree+"/renamed2"),
		os.Chtimes(g.tree+"/back", past, past),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string][]age{
		"old": {ageOld}, "touched": {ageUnsure}, "renamed2": {ageUnsure}, "back": {ageUnsure},
		"new": {ageNew, ageUnsure}, // unsure if the file system keeps no birth times
	} {
		var st unix.Statx_t
		if err := statx(tr.fd, name, &st); err != nil {
			t.Fatal(err)
		}
		if got := g.sweep.Held.ageOf(tr, &st); !slices.Contains(want, got) {
			t.Errorf("%s: %d, want %v", name, got, want)
		}
	}
}

func TestLocalClock(t *testing.T) {
	for magic, want := range map[int64]bool{
		unix.EXT4_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true, unix.BTRFS_SUPER_MAGIC: true, unix.TMPFS_MAGIC: true,
		unix.NFS_SUPER_MAGIC: false, unix.FUSE_SUPER_MAGIC: false, unix.V9FS_MAGIC: false, unix.OVERLAYFS_SUPER_MAGIC: false, 0: false,
	} {
		if localClock(magic) != want {
			t.Errorf("%#x: %v", magic, !want)
		}
	}
}

// TestHeldDirsStay: a tree renamed after the launch is swept where it is.
func TestHeldDirsStay(t *testing.T) {
	g := newGround(t, "x")
	g.launch()
	moved := g.tree + ".moved"
	if err := os.Rename(g.tree, moved); err != nil {
		t.Fatal(err)
	}
	dirstest.Plant(t, moved, ".git/config")
	dirstest.Plant(t, g.tree, ".git/config") // another directory has the name now
	out := g.sweep.End()
	if len(out.Moved) != 1 || dirstest.Exists(moved+"/.git") || !dirstest.Exists(g.tree+"/.git") {
		t.Errorf("%+v", out)
	}
}

func TestSweepIsReady(t *testing.T) {
	// A sweep of nothing, without a run's directory, does nothing and can be closed.
	s := Sweep{Held: &Snapshot{}, Match: match}
	s.Close()
	if out := s.End(); len(out.Moved)+len(out.Cuts)+len(out.Repositories) != 0 {
		t.Errorf("%+v", out)
	}
	if out := s.At("/x/.git"); len(out.Moved) != 0 {
		t.Errorf("%+v", out)
	}
	s.Close()
	s.Close()
}

// TestSweepEndsInTime: the walk has a time limit of its own.
func TestSweepEndsInTime(t *testing.T) {
	g := newGround(t)
	for i := range 200 {
		dirstest.Plant(t, g.tree, "d"+strconv.Itoa(i)+"/")
	}
	g.launch()
	g.sweep.prepare()
	later := time.Now().Add(time.Hour)
	few := bounds{maxNames, 10}
	for _, c := range []struct {
		why string
		set func(w *walk)
	}{
		{tooSlow, func(w *walk) { w.until = time.Now().Add(-time.Minute) }},
		{tooSlow, func(w *walk) { w.last = time.Now().Add(-time.Minute) }},
		{tooManyNames, func(w *walk) { w.made.names = 50 }},
		{tooManyDirs, func(w *walk) { w.made.dirs = 10 }},
		{tooManyDirs, func(w *walk) { w.room = 500 }},
		{"", func(w *walk) { w.old = few }}, // nothing of this was there at launch
	} {
		for i := range 200 { // so that each directory is entered
			dirstest.Plant(t, g.tree, "d"+strconv.Itoa(i)+"/x")
		}
		var out audit.Swept
		w := newWalk()
		w.until, w.last = later, later
		c.set(&w)
		w.s, w.out, w.buf = g.sweep, &out, make([]byte, 4096)
		w.tree(&g.sweep.Held.trees[0])
		if c.why == "" && len(out.Cuts) == 0 {
			continue
		}
		if len(out.Cuts) != 1 || !strings.Contains(out.Cuts[0], c.why) || c.why == "" {
			t.Errorf("%q: %q", c.why, out.Cuts)
		}
	}
}

// TestSharedAndFixed: the sweep leaves changes of the host in read-only directories. A link cannot
// be made read-only, so a file in its place is moved away.
func TestSharedAndFixed(t *testing.T) {
	g := newGround(t, ".git/hooks/", ".git/config", ".vscode/")
	g.w.Protected = []wrap.Protected{
		{Path: g.tree + "/.git", Kind: wrap.Dir, Shared: true}, {Path: g.tree + "/.git/hooks", Kind: wrap.Dir},
		{Path: g.tree + "/.vscode", Kind: wrap.Dir}, {Path: g.tree + "/.envrc", Kind: wrap.File, Link: true},
	}
	g.launch()
	dirstest.Plant(t, g.tree, ".git/hooks/pre-push", ".vscode/.git/x", ".git/modules/m/config", ".envrc")
	out := g.sweep.End()
	if got := g.moved(out); strings.Join(got, " ") != ".envrc .git/modules/m/config" {
		t.Errorf("%q", got)
	}
	if !dirstest.Exists(g.tree+"/.git/hooks/pre-push") || !dirstest.Exists(g.tree+"/.vscode/.git") {
		t.Error("what the host put there is gone")
	}
}
