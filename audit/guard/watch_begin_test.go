package guard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sbx/internal/dirs/dirstest"
	"sbx/wrap"
)

// FuzzEvents checks that no bytes make the decoder panic or hang.
func FuzzEvents(f *testing.F) {
	f.Add([]byte{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 'a', 0, 0, 0})
	f.Add([]byte{255, 255, 255, 255, 0, 0x40, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255})
	s := &Sweep{Held: &Snapshot{}, Match: match}
	x := NewWatch(wrap.Watch{}, s)
	if err := x.Begin(time.Time{}); err != nil {
		f.Fatal(err)
	}
	x.dirs[1] = &watched{names: map[string]int{"a": 0}, in: &tree{path: "/nowhere", fd: -1}}
	x.files = []guarded{{path: "/nowhere/a"}}
	f.Fuzz(func(t *testing.T, b []byte) {
		x.take(nil, b, time.Time{})
		x.dirs[1] = &watched{names: map[string]int{"a": 0}, in: &tree{path: "/nowhere", fd: -1}}
	})
}

func BenchmarkNewWatch(b *testing.B) {
	dir := dirstest.Temp(b)
	dirstest.Plant(b, dir, ".git/config", ".git/hooks/", "a/", "b/", "c/")
	w := wrap.Watch{Trees: []string{dir}, Protected: []wrap.Protected{{Path: dir + "/.git/config", Kind: wrap.File}, {Path: dir + "/.git/hooks", Kind: wrap.Dir}}}
	h, err := Hold(w)
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	for b.Loop() {
		x := NewWatch(w, &Sweep{Watch: w, Held: h, Match: match})
		if err := x.Begin(time.Time{}); err != nil {
			b.Fatal(err)
		}
		x.Close()
	}
}

// TestWatchThatNeverBegan: without a watch, for a command that ends soon, Finish compares the
// files.
func TestWatchThatNeverBegan(t *testing.T) {
	for _, began := range []bool{false, true} {
		g := newGround(t, "kept", "replaced", "again", "removed", "masked", "edited")
		for _, n := range []string{"kept", "replaced", "again", "removed", "edited"} {
			g.w.Protected = append(g.w.Protected, wrap.Protected{Path: g.tree + "/" + n, Kind: wrap.File})
		}
		g.w.Masked = []string{g.tree + "/masked"}
		g.launch()
		x := NewWatch(g.w, g.sweep)
		if got := x.Drain(time.Now()); len(got) != 0 || x.FD() != -1 {
			t.Errorf("%+v", got)
		}
		dirstest.Plant(t, g.tree, "new")
		for _, err := range []error{
			os.Rename(g.tree+"/new", g.tree+"/replaced"), os.Remove(g.tree + "/removed"), os.Remove(g.tree + "/masked"),
			os.Remove(g.tree + "/again"), // the next file often gets its inode
			os.WriteFile(g.tree+"/again", []byte("again"), 0o644),
			os.WriteFile(g.tree+"/edited", []byte("in place"), 0o644),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if began { // Begin notes the changes until then
			if err := x.Begin(time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for _, c := range x.Finish(time.Unix(2, 0)) {
			for _, e := range c.Events {
				got = append(got, e.What.String())
			}
			got = append(got, filepath.Base(c.Path))
		}
		if want := "replaced replaced replaced again removed removed edited removed masked"; strings.Join(got, " ") != want {
			t.Errorf("began %v: got %q, want %q", began, got, want)
		}
		x.Close()
	}
}

// TestWatchThatCouldNotBegin: Poll reports each name once, until the name changes again.
func TestWatchThatCouldNotBegin(t *testing.T) {
	g := newGround(t, "kept", "replaced", "removed", "sub/")
	for _, n := range []string{"kept", "replaced", "removed"} {
		g.w.Protected = append(g.w.Protected, wrap.Protected{Path: g.tree + "/" + n, Kind: wrap.File})
	}
	g.launch()
	x := NewWatch(g.w, g.sweep)
	if got := x.Poll(time.Now()); len(got) != 0 {
		t.Errorf("nothing happened: %+v", got)
	}
	tell := func() string {
		var all []string
		for _, n := range x.Poll(time.Now()) {
			all = append(all, n.What.String()+" "+strings.TrimPrefix(n.Path, g.tree+"/"))
		}
		return strings.Join(all, ", ")
	}
	dirstest.Plant(t, g.tree, "new", "sub/.git/")
	for _, err := range []error{os.Rename(g.tree+"/new", g.tree+"/replaced"), os.Remove(g.tree + "/removed")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got, want := tell(), "replaced replaced, removed removed, appeared sub/.git"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := tell(); got != "" {
		t.Errorf("told again: %q", got)
	}
	if err := os.Rename(g.tree+"/sub/.git", g.tree+"/away"); err != nil {
		t.Fatal(err)
	}
	dirstest.Plant(t, g.tree, "sub/.git/")
	if got := tell(); got != "appeared sub/.git" {
		t.Errorf("another is told of as %q", got)
	}
	if !x.Fallen() {
		t.Error("nothing lacks its mount")
	}
}
