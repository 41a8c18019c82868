package guard

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sbx/internal/dirs/dirstest"
)

// withGit returns a function that runs git in a new repository.
func withGit(t *testing.T, init ...string) (dir string, git func(args ...string)) {
	t.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	dir = dirstest.Temp(t)
	git = func(args ...string) {
		t.Helper()
		c := exec.Command(path, args...)
		c.Dir = dir
		c.Env = []string{"HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git(append([]string{"init", "-q"}, init...)...)
	return dir, git
}

// spoil replaces a file name in an index by another one of the same length.
func spoil(t *testing.T, b []byte, from, to string) []byte {
	t.Helper()
	if len(from) != len(to) || !bytes.Contains(b, []byte(from)) {
		t.Fatalf("%s is not in the index, or longer than %s", from, to)
	}
	return bytes.ReplaceAll(b, []byte(from), []byte(to))
}

// TestIndexLeads reads indexes of each kind. As a control it checks that git accepts the spoiled
// ones.
func TestIndexLeads(t *testing.T) {
	for _, c := range []struct {
		name, file string
		init, add  []string
	}{
		{"version 2", "index", nil, []string{"update-index", "--index-version", "2"}},
		{"version 3", "index", nil, []string{"add", "-N", "later"}},
		{"version 4", "index", nil, []string{"update-index", "--index-version", "4"}},
		{"by threads", "index", nil, []string{"-c", "index.threads=3", "update-index", "--index-version", "4"}},
		{"split", "sharedindex.*", nil, []string{"update-index", "--split-index"}},
		{"sha256", "index", []string{"--object-format=sha256"}, []string{"status"}},
		{"sha256, version 4", "index", []string{"--object-format=sha256"}, []string{"-c", "index.threads=2", "update-index", "--index-version", "4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, git := withGit(t, c.init...)
			dirstest.Plant(t, dir, ".fit/hooks/post-checkout", "yy/up", "a", "a.git", "b/c/d/e", "b/c/d/f", "b/c/x", "later", strings.Repeat("long/", 60)+"name", "z/.gitignore", "z/.github/x")
			git("add", ".fit", "yy", "a", "a.git", "b", "long", "z")
			git(c.add...)
			found, err := filepath.Glob(dir + "/.git/" + c.file)
			if err != nil || len(found) != 1 {
				t.Fatal(found, err)
			}
			b, err := os.ReadFile(found[0])
			if err != nil {
				t.Fatal(err)
			}
			if c.name == "by threads" && !bytes.Contains(b, []byte("IEOT")) {
				t.Error("git wrote no table of blocks")
			}
			if indexLeads(b) {
				t.Error("an index of git's own is taken for one that leads elsewhere")
			}
			for from, to := range map[string]string{".fit/hooks": ".git/hooks", ".fit/hook": ".GIT/hook", "yy/up": "../up", ".fit/hooks/post": "/fit/hooks/post"} {
				if !indexLeads(spoil(t, b, from, to)) {
					t.Errorf("%s for %s is not seen", to, from)
				}
			}
			if at := bytes.Index(b, []byte("IEOT")); at > 0 {
				moved := bytes.Clone(b)
				moved[at+8+4+8+3]++ // where the second block begins
				if !indexLeads(moved) {
					t.Error("a table that leads elsewhere is not seen")
				}
			}
			for n := range b {
				indexLeads(b[:n]) // without a panic
			}
			evil := spoil(t, b, ".fit/hooks", ".git/hooks")
			if c.file != "index" {
				return
			}
			sign(evil, c.init != nil)
			if err := os.WriteFile(found[0], evil, 0o644); err != nil {
				t.Fatal(err)
			}
			git("checkout", ".")
			if !dirstest.Exists(dir + "/.git/hooks/post-checkout") {
				t.Error("control: git did not write what its index names")
			}
		})
	}
}

// sign puts the checksum of an index at its end.
func sign(b []byte, long bool) {
	if long {
		sum := sha256.Sum256(b[:len(b)-32])
		copy(b[len(b)-32:], sum[:])
		return
	}
	sum := sha1.Sum(b[:len(b)-20])
	copy(b[len(b)-20:], sum[:])
}

// FuzzIndex checks that no content of an index makes the supervisor panic.
func FuzzIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x01" + strings.Repeat("\x00", 80)))
	f.Add([]byte("DIRC\x00\x00\x00\x02\xff\xff\xff\xff" + strings.Repeat("\x0f", 200)))
	f.Fuzz(func(_ *testing.T, b []byte) { indexLeads(b) })
}
