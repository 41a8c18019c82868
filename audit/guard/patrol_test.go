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
)

// round makes a patrol go round once, with as many calls as that takes.
func (p *Patrol) round(t *testing.T) (found audit.Swept) {
	t.Helper()
	for range 10_000 {
		some, over := p.Walk(time.Millisecond)
		if found.Add(some); over {
			return found
		}
	}
	t.Fatal("the round does not end")
	return found
}

// TestPatrolFindsWhatNobodyWatches: a patrol looks into every directory, watched or not, whatever
// call created the names there. It leaves names that existed at launch or that the spec allows.
func TestPatrolFindsWhatNobodyWatches(t *testing.T) {
	g := newGround(t, "old/.git/config", "allowed/")
	for i := range 3 * maxWatched {
		dirstest.Plant(t, g.tree, "d"+strconv.Itoa(i)+"/deep/")
	}
	g.w.Allowed = []string{g.tree + "/allowed"}
	g.launch()
	p := NewPatrol(g.sweep)
	if found := p.round(t); len(found.Moved) != 0 {
		t.Errorf("%+v", found)
	}
	last := "d" + strconv.Itoa(3*maxWatched-1)
	dirstest.Plant(t, g.tree, last+"/deep/.git/config", "new/a/b/.GIT/config", "allowed/.git/config", ".envrc", "old/x/y")
	for i := range 2000 { // more than one read returns
		dirstest.Plant(t, g.tree, "many/"+strconv.Itoa(i)+"/")
	}
	dirstest.Plant(t, g.tree, "many/last/.git")
	want := []string{".envrc", last + "/deep/.git", "many/last/.git", "new/a/b/.GIT"}
	if got := g.moved(p.round(t)); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if !dirstest.Exists(g.tree+"/old/.git/config") || !dirstest.Exists(g.tree+"/allowed/.git/config") {
		t.Error("too much was moved")
	}
	if found := p.round(t); len(found.Moved) != 0 {
		t.Errorf("once more: %+v", found)
	}
	p.End()
}

// TestPatrolIsInterrupted: a call takes no longer than its slice and the last piece of a directory.
func TestPatrolIsInterrupted(t *testing.T) {
	g := newGround(t)
	for i := range 100 {
		dirstest.Plant(t, g.tree, "d"+strconv.Itoa(i)+"/x/")
	}
	g.launch()
	dirstest.Plant(t, g.tree, "d99/x/.git/config")
	p := NewPatrol(g.sweep)
	looks := 0
	for over := false; !over; looks++ {
		var found audit.Swept
		if found, over = p.Walk(1); over && looks == 0 || looks > 10_000 {
			t.Fatalf("%d looks: %+v", looks, found)
		}
	}
	if looks < 100 || dirstest.Exists(g.tree+"/d99/x/.git") {
		t.Errorf("%d looks", looks)
	}
	p.End()
}

// TestPatrolLooksAtWhatWasRefused: each round begins with the denied names, and so does End.
func TestPatrolLooksAtWhatWasRefused(t *testing.T) {
	g := newGround(t, "a/")
	g.launch()
	p := NewPatrol(g.sweep)
	for range 2 {
		p.Refused(g.tree + "/a/.git")
	}
	for range 2 {
		dirstest.Plant(t, g.tree, "a/.git/config")
		if found, _ := p.Walk(0); len(found.Moved) != 1 || dirstest.Exists(g.tree+"/a/.git") {
			t.Errorf("%+v", found)
		}
		p.round(t)
	}
	for i := range maxTargets - 1 {
		p.Refused(g.tree + "/" + strconv.Itoa(i) + "/.git")
	}
	if p.Full() {
		t.Error("full")
	}
	if p.Refused(g.tree + "/z/.git"); !p.Full() {
		t.Error("not full")
	}
	dirstest.Plant(t, g.tree, "a/.git")
	if found := p.End(); len(found.Moved) != 1 {
		t.Errorf("at the end: %+v", found)
	}
}

// TestPatrolLooksAtWhatWasRefusedInEachLook: during a round through a large tree, each call looks
// at the denied names. If it has no time for all of them, the calls take turns.
func TestPatrolLooksAtWhatWasRefusedInEachLook(t *testing.T) {
	g := newGround(t, "a/", "b/", "c/")
	for i := range 100 {
		dirstest.Plant(t, g.tree, "d"+strconv.Itoa(i)+"/")
	}
	g.launch()
	p := NewPatrol(g.sweep)
	names := []string{"a/.git", "b/.git", "c/.git"}
	for _, name := range names {
		p.Refused(g.tree + "/" + name)
	}
	if found, over := p.Walk(0); over || len(found.Moved) != 0 {
		t.Fatalf("the round is over at once: %+v", found)
	}
	dirstest.Plant(t, g.tree, names...)
	var all audit.Swept
	for range names {
		found, over := p.Walk(0)
		if all.Add(found); over || len(found.Moved) != 1 {
			t.Errorf("over %v: %+v", over, found)
		}
	}
	if got := g.moved(all); !slices.Equal(got, names) {
		t.Errorf("got %q", got)
	}
	p.End()
}

// TestSweepGoesPastWhatIsNew: new directories do not keep the walk from reaching those behind them:
// only directories that are unchanged since the launch count towards the bounds for old ones.
func TestSweepGoesPastWhatIsNew(t *testing.T) {
	g := newGround(t)
	g.launch()
	for i := range 300 {
		dirstest.Plant(t, g.tree, "a"+strconv.Itoa(i)+"/")
	}
	dirstest.Plant(t, g.tree, "a0/z/y/.git/config")
	w := newWalk()
	w.old = bounds{maxNames, 1}
	out := g.sweep.end(w)
	if got := g.moved(out); len(got) != 1 || out.Early != "" {
		t.Errorf("moved %q, %q", got, out.Cuts)
	}
}

// TestSweepReportsPathsThatAreTooDeep: the walk does not enter directories whose path is longer
// than a path may be, and reports that like any early end. It reports nothing for shorter paths.
func TestSweepReportsPathsThatAreTooDeep(t *testing.T) {
	for _, c := range []struct {
		levels int
		deep   bool
	}{{15, false}, {24, true}} {
		g := newGround(t)
		g.launch()
		at, err := unix.Open(g.tree, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		name := strings.Repeat("x", 200)
		for i := 0; i < c.levels && err == nil; i++ {
			if err = unix.Mkdirat(at, name, 0o755); err == nil {
				below, no := unix.Openat(at, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
				unix.Close(at)
				at, err = below, no
			}
		}
		if err == nil {
			err = unix.Mkdirat(at, ".git", 0o755)
		}
		unix.Close(at)
		if err != nil {
			t.Fatal(err)
		}
		out := g.sweep.End()
		if told := strings.Contains(out.Early, "nested too deep") && slices.Contains(out.Cuts, out.Early); told != c.deep || (len(out.Moved) == 1) == c.deep {
			t.Errorf("%d levels: %+v", c.levels, out)
		}
	}
}

// TestSweepFollowsGitlinks: even if the walk ends early, the sweep looks at the working trees of
// submodules that the index lists now.
func TestSweepFollowsGitlinks(t *testing.T) {
	g := newGround(t, ".git/config", "sub/x", "zoo/sub/x", ".git/modules/zoo/sub/config", "zoo/sub/in/x")
	g.w.Git = []string{g.tree + "/.git", g.tree + "/.git/modules/zoo/sub"}
	g.known = []string{g.tree + "/.git", g.tree + "/.git/config", g.tree + "/.git/modules/zoo/sub/config"}
	g.launch()
	put := func(path string, b []byte) {
		t.Helper()
		if err := os.WriteFile(g.tree+"/"+path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(".git/index", gitlinks(t, "gone", "zoo/sub"))
	put(".git/modules/zoo/sub/index", gitlinks(t, "in"))
	dirstest.Plant(t, g.tree, "zoo/sub/.git/config", "zoo/sub/in/.git/config", "sub/.git/config")
	w := newWalk()
	w.made.dirs, w.old.dirs = 2, 0
	out := g.sweep.end(w)
	if got := g.moved(out); !slices.Equal(got, []string{"zoo/sub/.git", "zoo/sub/in/.git"}) {
		t.Errorf("moved %q", got)
	}
	if !strings.Contains(out.Early, tooManyDirs) || !slices.Contains(out.Cuts, out.Early) {
		t.Errorf("%+v", out)
	}
}

// gitlinks returns an index of submodules in version 2.
func gitlinks(t *testing.T, names ...string) []byte {
	t.Helper()
	be := func(n int) []byte { return []byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)} }
	b := append(append([]byte("DIRC"), be(2)...), be(len(names))...)
	for _, name := range names {
		e := append(make([]byte, indexMode), be(gitlink)...)
		e = append(append(e, make([]byte, indexStat+20-len(e))...), byte(len(name)>>8), byte(len(name)))
		e = append(e, name...)
		b = append(b, append(e, make([]byte, 8-len(e)%8)...)...)
	}
	return append(b, make([]byte, 20)...)
}
