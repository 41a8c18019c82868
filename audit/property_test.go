package audit

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"sbx/spec/redact"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// names are what random trees are made of: ordinary ones, protected ones, and
// those that are nearly so.
var names = []string{"a", "b", "src", ".git", ".GIT", ".gitignore", "git", "config", "config.worktree", "hooks", "modules", "worktrees",
	".claude", "settings.json", "settings.local.json", ".vscode", ".envrc", ".mcp.json", "x y", "n\nl", "\xff", "…", ".git ", "..."}

// grow makes n random files, directories and links beneath dir, and none by a link that
// leads out of it.
func grow(t *testing.T, rng *rand.Rand, dir string, n int) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for range n {
		parts := make([]string, 1+rng.IntN(4))
		for i := range parts {
			parts[i] = names[rng.IntN(len(names))]
		}
		p := filepath.Join(parts...)
		if root.MkdirAll(filepath.Dir(p), 0o755) != nil {
			continue // a file stands on the way, or a link out
		}
		switch rng.IntN(5) {
		case 0:
			_ = root.Mkdir(p, 0o755)
		case 1:
			_ = root.Symlink([]string{"/etc", "..", "a", "nowhere", dir}[rng.IntN(5)], p)
		case 2:
			_ = unix.Mkfifo(filepath.Join(dir, p), 0o600)
		default:
			if f, err := root.OpenFile(p, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err == nil {
				_, _ = f.WriteString(p)
				f.Close()
			}
		}
	}
}

// standing lists all names beneath dir, links not followed.
func standing(t *testing.T, dir string) map[string]fs.FileMode {
	t.Helper()
	out := map[string]fs.FileMode{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && p != dir {
			out[p[len(dir)+1:]] = d.Type()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSweepProperty: of a random tree that changes at random, exactly the new
// protected names go, with all beneath them, the new links in git directories, and
// nothing else.
func TestSweepProperty(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	for seed := range rounds {
		rng := rand.New(rand.NewPCG(uint64(seed), 7))
		g := newGround(t)
		grow(t, rng, g.tree, 30)
		before := standing(t, g.tree)
		for rel := range before {
			if match(rel) {
				g.known = append(g.known, g.tree+"/"+rel)
			}
		}
		g.launch()
		grow(t, rng, g.tree, 30)
		after := standing(t, g.tree)
		// A directory of a git directory in which something is new may itself be: what was
		// there came with it, as far as its times tell.
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
		// What should stay, told by names alone.
		want := []string{}
		for rel := range after {
			goes := false
			for top := rel; top != "."; top = filepath.Dir(top) {
				_, old := before[top]
				in, git := wrap.InGitFolder(top)
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
		for rel := range standing(t, g.tree) {
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
		// Nothing is lost: what went stands in the run's directory.
		kept := 0
		for range standing(t, g.run) {
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

// TestArtifactsProperty holds the walk against filepath.WalkDir.
func TestArtifactsProperty(t *testing.T) {
	for seed := range 20 {
		rng := rand.New(rand.NewPCG(uint64(seed), 9))
		dir := temp(t)
		grow(t, rng, dir, 60)
		var want []Artifact
		for rel, mode := range standing(t, dir) {
			if !mode.IsRegular() {
				continue
			}
			b, err := os.ReadFile(dir + "/" + rel)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, Artifact{rel, int64(len(b)), fmt.Sprintf("%x", sha256.Sum256(b)), 0o644})
		}
		slices.SortFunc(want, func(a, b Artifact) int { return strings.Compare(a.Path, b.Path) })
		got, omitted := artifactsOf(t, dir)
		if !reflect.DeepEqual(got, want) || omitted != 0 {
			t.Fatalf("seed %d: got %+v, want %+v", seed, got, want)
		}
	}
}

// TestRedactProperty: a secret does not show in any of the places where
// people put one, whatever stands around it.
func TestRedactProperty(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	plainWords := []string{"make", "-j8", "all", "--verbose", "./x", "https://example.com/a?b=c", "name=value", "sh", "-c", "--", "{}", "a b"}
	places := []func(s string) []string{
		func(s string) []string { return []string{"--token", s} },
		func(s string) []string { return []string{"--password=" + s} },
		func(s string) []string { return []string{"MY_API_KEY=" + s} },
		func(s string) []string { return []string{"-H", "Authorization: Bearer " + s} },
		func(s string) []string { return []string{"-H", "X-Auth-Token: " + s} },
		func(s string) []string { return []string{"https://user:" + s + "@host/path"} },
		func(s string) []string { return []string{"postgres://u:" + s + "@db:5432/x?sslmode=off"} },
		func(s string) []string { return []string{"https://host/x?access_token=" + s + "&n=1"} },
		func(s string) []string { return []string{`{"user": "me", "client_secret": "` + s + `"}`} },
		func(s string) []string { return []string{"sh", "-c", "export DB_PASSWORD=" + s + "; run"} },
		func(s string) []string { return []string{"sh", "-c", "run --secret '" + s + "' now"} },
		func(s string) []string { return []string{"mysql", "-p" + s} },
		func(s string) []string { return []string{"curl", "-u", "me:" + s} },
		func(s string) []string { return []string{"ghp_" + s} },
		func(s string) []string { return []string{"--header=Cookie: session=" + s} },
	}
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	for range 5000 {
		secret := make([]byte, 20)
		for i := range secret {
			secret[i] = letters[rng.IntN(len(letters))]
		}
		argv := []string{"prog"}
		for range rng.IntN(4) {
			argv = append(argv, plainWords[rng.IntN(len(plainWords))])
		}
		argv = append(argv, places[rng.IntN(len(places))](string(secret))...)
		for range rng.IntN(4) {
			argv = append(argv, plainWords[rng.IntN(len(plainWords))])
		}
		if got := strings.Join(redact.Args(argv), " "); strings.Contains(got, string(secret)) || !strings.Contains(got, redact.Mark) {
			t.Fatalf("%q\nbecame %q", argv, got)
		}
	}
}
