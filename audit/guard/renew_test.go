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

// renewals returns a watch on a config, and a function that replaces the config.
func renewals(t *testing.T) (*ground, *Watch, func(text string)) {
	g := newGround(t, ".git/config", "token")
	path := g.tree + "/.git/config"
	g.w.Protected = []wrap.Protected{{Path: path, Kind: wrap.File}}
	g.w.Masked = []string{g.tree + "/token"}
	g.w.Renew = []wrap.Renewal{{Path: g.tree + "/.git", Mount: wrap.Mount{Op: wrap.OpPin, Target: g.tree + "/.git"}}, {Path: path}, {Path: g.tree + "/token"}}
	g.known = []string{g.tree + "/.git"}
	return g, g.watch(), func(text string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
}

func ms(n int) time.Time { return time.Unix(1000, int64(n)*1e6) }

func mounted(string) (string, bool) { return "", false }

// TestRenewedWatch: a lost mount is reported until a renewal is over that began after the loss.
func TestRenewedWatch(t *testing.T) {
	_, x, replace := renewals(t)
	if x.Fallen() {
		t.Error("nothing has happened")
	}
	replace("one")
	x.Drain(ms(0))
	if !x.Fallen() {
		t.Fatal("it has fallen off")
	}
	x.Renewing()
	if x.Fallen() {
		t.Error("a renewal is under way")
	}
	replace("two") // during that renewal
	x.Drain(ms(10))
	x.Renewed(ms(20), mounted)
	if !x.Fallen() {
		t.Error("what fell off meanwhile was taken for mounted")
	}
	x.Renewing()
	x.Renewed(ms(30), mounted)
	if x.Fallen() {
		t.Error("all is mounted")
	}
	c := x.Finish(ms(1000))
	if len(c) != 1 || c[0].Unprotected != 30*time.Millisecond || c[0].Bare || len(c[0].Events) != 2 {
		t.Fatalf("%+v", c)
	}
	first, second := c[0].Events[0], c[0].Events[1]
	if !first.Renewed.IsZero() || !second.Renewed.Equal(ms(30)) || second.Lacked != 30*time.Millisecond {
		t.Errorf("%+v", c[0].Events)
	}
	if first.Found == "" || second.Found != second.Kept || second.Kept != c[0].DigestAfter || first.Found == second.Found {
		t.Errorf("the digests: %+v", c[0])
	}
}

// TestRenewalThatFails: a file that cannot be mounted waits until something happens to it or until
// Again, and counts as unprotected to the end. A file that does not exist does not count.
func TestRenewalThatFails(t *testing.T) {
	g, x, replace := renewals(t)
	replace("one")
	if err := os.Remove(g.tree + "/token"); err != nil {
		t.Fatal(err)
	}
	x.Drain(ms(0))
	x.Renewing()
	x.Renewed(ms(10), func(path string) (string, bool) { return "a link stands there", false })
	if x.Fallen() {
		t.Error("it is tried for ever")
	}
	x.Again()
	if !x.Fallen() {
		t.Error("it is not tried again")
	}
	c := x.Finish(ms(100))
	if len(c) != 2 || c[0].Unprotected != 100*time.Millisecond || !c[0].Bare || c[0].Why == "" || c[1].Unprotected != 0 || c[1].Bare {
		t.Errorf("%+v", c)
	}
}

// TestRemovedAndMadeAgain: a file that the host removes does not count as bare, and a file that the
// host creates again does.
func TestRemovedAndMadeAgain(t *testing.T) {
	g, x, replace := renewals(t)
	replace("one")
	if err := os.Remove(g.tree + "/.git/config"); err != nil {
		t.Fatal(err)
	}
	x.Drain(ms(0))
	if x.Fallen() {
		t.Error("nothing stands there")
	}
	replace("two")
	x.Drain(ms(50))
	x.Renewing()
	x.Renewed(ms(60), func(string) (string, bool) { return "", true }) // gone by then
	if c := x.Finish(ms(100)); len(c) != 1 || c[0].Unprotected != 10*time.Millisecond || c[0].Bare {
		t.Errorf("%+v", c)
	}
}

// TestDirMadeAnew: a directory that is created anew is watched like the old one.
func TestDirMadeAnew(t *testing.T) {
	g, x, replace := renewals(t)
	for _, gone := range []func() error{
		func() error { return os.RemoveAll(g.tree + "/.git") },
		func() error { return os.Rename(g.tree+"/.git", g.tree+"/old") },
	} {
		if err := gone(); err != nil {
			t.Fatal(err)
		}
		dirstest.Plant(t, g.tree, ".git/config")
		x.Drain(ms(0))
		x.Renewing()
		x.Renewed(ms(1), mounted)
		replace("anew")
		if got := g.drain(x); strings.Join(got, "; ") != "replaced .git/config" {
			t.Errorf("%q", got)
		}
		x.Renewing()
		x.Renewed(ms(2), mounted)
	}
	if err := os.WriteFile(g.tree+"/old/config", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(g.tree+"/old/config", g.tree+"/old/gone"); err != nil {
		t.Fatal(err)
	}
	if x.Drain(ms(3)); x.Fallen() {
		t.Error("what happens in the directory that was moved away is taken for the new one's")
	}
	if out := g.sweep.End(); len(out.Moved) != 1 { // old/.git is no longer a protected name; the copy of .git has another name
		t.Logf("%+v", out)
	}
}

// TestManyReplacements: however often a file is replaced, the record stays small, and the time
// without protection is complete.
func TestManyReplacements(t *testing.T) {
	_, x, replace := renewals(t)
	for i := range 3 * maxEvents {
		replace("again")
		x.Drain(ms(i))
	}
	x.Renewing()
	x.Renewed(ms(1000), mounted)
	c := x.Finish(ms(2000))
	if len(c) != 1 || len(c[0].Events) != maxEvents || c[0].Omitted < maxEvents || c[0].Unprotected != time.Second {
		t.Errorf("%d events, %d left out, %v", len(c[0].Events), c[0].Omitted, c[0].Unprotected)
	}
}

// TestSweepGuards: a path is guarded if it or a directory above it has a read-only mount inside,
// whatever its name.
func TestSweepGuards(t *testing.T) {
	g := newGround(t, "sub/hooks/", "free")
	g.w.Protected = []wrap.Protected{{Path: g.tree + "/sub/hooks", Kind: wrap.Dir}, {Path: g.tree + "/sub", Kind: wrap.Dir, Shared: true}}
	g.w.Renew = []wrap.Renewal{{Path: g.tree + "/sub", Mount: wrap.Mount{Op: wrap.OpPin}}, {Path: g.tree + "/token", Mount: wrap.Mount{Op: wrap.OpPlace}}}
	g.launch()
	for path, want := range map[string]Kind{"sub/hooks": Fixed, "sub/hooks/x": Within, "sub/hooks/x/y": Within, "sub": Pinned, "token": Fixed,
		"sub/hooksx": Unguarded, "free": Unguarded, "sub/free": Unguarded, "../out": Unguarded} {
		got, mount := g.sweep.Guards(filepath.Clean(g.tree + "/" + path))
		above := map[string]string{"sub/hooks/x": "/sub/hooks", "sub/hooks/x/y": "/sub/hooks", "sub/hooks": "/sub", "sub/hooksx": "/sub", "sub/free": "/sub"}
		if got != want || path != "../out" && mount != g.tree+above[path] {
			t.Errorf("%s: guarded %v by %s", path, got, mount)
		}
		if got := g.sweep.Forbids(g.tree + "/" + path); got != strings.HasPrefix(path+"/", "sub/hooks/") {
			t.Errorf("%s: forbidden %v", path, got)
		}
	}
	for name, want := range map[string]bool{"hooks": true, "sub": true, "token": true, "x": false} {
		if g.sweep.Guarded(name) != want {
			t.Errorf("%s may be guarded: %v", name, !want)
		}
	}
	g.sweep.forget(g.tree + "/sub")
	if got, _ := g.sweep.Guards(g.tree + "/sub"); got != Unguarded {
		t.Errorf("what was removed inside is guarded: %v", got)
	}
	missed := func(path string) bool { got, _ := g.sweep.Guards(path); return got == Missed }
	for path, want := range map[string]bool{"other/.git/config": true, "other/.git/hooks/x": true, "other/.git/index": false, "other/file": false} {
		g.sweep.Cut = false
		if missed(g.tree + "/" + path) {
			t.Errorf("%s: guarded where the search was not cut", path)
		}
		g.sweep.Cut = true
		if got := missed(g.tree + "/" + path); got != want {
			t.Errorf("%s: guarded %v where the search was cut", path, got)
		}
	}
}
