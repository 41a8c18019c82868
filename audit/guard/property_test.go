package guard

import (
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sbx/internal/dirs/dirstest"
	"sbx/wrap/defaults"
)

// TestSweepProperty: after random changes to a random tree, the sweep moves away exactly the new
// protected names with their contents and the new links in git directories.
func TestSweepProperty(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	for seed := range rounds {
		rng := rand.New(rand.NewPCG(uint64(seed), 7))
		g := newGround(t)
		dirstest.Grow(t, rng, g.tree, 30)
		before := dirstest.Standing(t, g.tree)
		for rel := range before {
			if match(rel) {
				g.known = append(g.known, g.tree+"/"+rel)
			}
		}
		g.launch()
		dirstest.Grow(t, rng, g.tree, 30)
		after := dirstest.Standing(t, g.tree)
		// If a directory in a git directory has a new entry, the directory may be new itself. By
		// their times, its older entries may then have come with it.
		changed := map[string]bool{}
		for rel := range after {
			if _, old := before[rel]; !old {
				changed[filepath.Dir(rel)] = true
			}
		}
		came := func(rel, in string) bool {
			for in = filepath.Dir(in); in != "."; in = filepath.Dir(in) {
				if rel = filepath.Dir(rel); changed[rel] {
					return true
				}
			}
			return false
		}
		// want are the names that should stay, determined by name alone.
		want := []string{}
		for rel := range after {
			goes := false
			for top := rel; top != "."; top = filepath.Dir(top) {
				_, old := before[top]
				in, git := defaults.InGitDir(top)
				link := git && after[top]&fs.ModeSymlink != 0
				if !old && (match(top) || link) || link && came(top, in) {
					goes = true
				}
			}
			if !goes {
				want = append(want, rel)
			}
		}
		out := g.sweep.End()
		var got []string
		for rel := range dirstest.Standing(t, g.tree) {
			got = append(got, rel)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: it stands\n%q\nwant\n%q\nmoved %+v", seed, got, want, out)
		}
		if len(out.Cuts) != 0 {
			t.Errorf("seed %d: %q", seed, out.Cuts)
		}
		// Nothing is lost: all moved names are in the run's directory.
		kept := 0
		for range dirstest.Standing(t, g.run) {
			kept++
		}
		if len(out.Moved) > 0 {
			kept-- // the directory "swept" itself
		}
		if kept != len(after)-len(want) {
			t.Errorf("seed %d: %d names are kept of %d that went", seed, kept, len(after)-len(want))
		}
		for _, m := range out.Moved {
			rel := strings.TrimPrefix(m.Path, g.tree+"/")
			if wantKind := kindOfMode(after[rel]); m.Kind != wantKind {
				t.Errorf("seed %d: %s is called a %s, not a %s", seed, rel, m.Kind, wantKind)
			}
		}
	}
}

func kindOfMode(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "folder"
	case m.IsRegular():
		return "file"
	case m&fs.ModeSymlink != 0:
		return "link"
	}
	return "other"
}
