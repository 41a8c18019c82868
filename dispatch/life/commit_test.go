package life

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sbx/dispatch"
)

// The facts read from a repository agree with git's, whatever the repository's form.
func TestBaseCommitIsGits(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git to ask")
	}
	dir := t.TempDir()
	at := func(words ...string) string { return filepath.Join(append([]string{dir}, words...)...) }
	git := func(in string, args ...string) (string, error) {
		cmd := exec.Command("git", append([]string{"-C", in, "-c", "user.name=n", "-c", "user.email=e@e", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always"}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err
	}
	must := func(in string, args ...string) {
		t.Helper()
		if out, err := git(in, args...); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	commit := func(in string) { t.Helper(); must(in, "commit", "-q", "--allow-empty", "-m", in) }
	for _, d := range []string{"loose/deep", "packed", "detached", "unborn", "none", "odd\n name", "symbolic"} {
		if err := os.MkdirAll(at(d), 0o755); err != nil {
			t.Fatal(err)
		}
		if d == "none" {
			continue
		}
		repo := at(strings.TrimSuffix(d, "/deep"))
		must(repo, "init", "-q")
		if d != "unborn" {
			commit(repo)
		}
	}
	commit(at("packed"))
	must(at("packed"), "pack-refs", "--all")
	must(at("packed"), "worktree", "add", "-q", at("linked"), "-b", "side")
	commit(at("linked"))
	must(at("packed"), "worktree", "add", "-q", at("linked-packed"), "-b", "other")
	must(at("packed"), "pack-refs", "--all")
	must(at("detached"), "checkout", "-q", "--detach")
	must(at("symbolic"), "symbolic-ref", "refs/heads/by", "refs/heads/main")
	must(at("symbolic"), "symbolic-ref", "HEAD", "refs/heads/by")
	must(at("loose"), "submodule", "--quiet", "add", at("detached"), "sub")
	for _, name := range []string{"loose", "loose/deep", "packed", "linked", "linked-packed", "detached", "unborn", "odd\n name", "symbolic", "loose/sub"} {
		want, err := git(at(name), "rev-parse", "-q", "--verify", "HEAD")
		if err != nil && name != "unborn" || err == nil && len(want) != 40 {
			t.Fatalf("%s: git says %q, %v", name, want, err)
		}
		if got := BaseCommit(at(name), os.Getuid(), dispatch.OwnerOf); got != want {
			t.Errorf("%s: %q, git says %q", name, got, want)
		}
	}
	if got := BaseCommit(at("none"), os.Getuid(), dispatch.OwnerOf); got != "" {
		t.Errorf("without a repository: %q", got)
	}
	if must(at("loose"), "init", "-q", "--object-format=sha256", at("long")); true {
		commit(at("long"))
		want, _ := git(at("long"), "rev-parse", "HEAD")
		if got := BaseCommit(at("long"), os.Getuid(), dispatch.OwnerOf); got != want || len(got) != 64 {
			t.Errorf("sha256: %q, git says %q", got, want)
		}
	}
}

// A directory that is not a repository, or that leads elsewhere, gives no commit, and nothing waits
// for it.
func TestBaseCommitOfWhatIsNone(t *testing.T) {
	id := strings.Repeat("ab", 20)
	for name, files := range map[string]map[string]string{
		"a text":     {".git/HEAD": "secret of another's\n"},
		"too long":   {".git/HEAD": id + strings.Repeat("\n", maxRef)},
		"upwards":    {".git/HEAD": "ref: refs/../../key\n", "key": id},
		"outside":    {".git/HEAD": "ref: ../key\n", "key": id},
		"round":      {".git/HEAD": "ref: refs/heads/a\n", ".git/refs/heads/a": "ref: refs/heads/a\n"},
		"reftable":   {".git/HEAD": "ref: refs/heads/.invalid\n"},
		"no gitdir":  {".git": "gitdir: /nowhere\n"},
		"not packed": {".git/HEAD": "ref: refs/heads/a\n", ".git/packed-refs": id + " refs/heads/ab\n" + id + " refs/heads/b/refs/heads/a\n" + "^" + id + "\n"},
	} {
		dir := t.TempDir()
		for f, text := range files {
			path := filepath.Join(dir, f)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := BaseCommit(dir, os.Getuid(), dispatch.OwnerOf); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/.git", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(dir+"/.git/HEAD", 0o644); err != nil {
		t.Fatal(err)
	}
	if got := BaseCommit(dir, os.Getuid(), dispatch.OwnerOf); got != "" {
		t.Errorf("a FIFO: %q", got)
	}
	// A repository in a directory above that belongs to another user is ignored.
	if err := os.Remove(dir + "/.git/HEAD"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/.git/HEAD", []byte(id), 0o644); err != nil {
		t.Fatal(err)
	}
	for uid, want := range map[int]string{5: "", 7: id, 0: id} {
		owner := func(path string) (int, bool) {
			if _, there := dispatch.OwnerOf(path); !there || path != dir+"/.git" {
				return 7, there
			}
			return uid, true
		}
		if got := BaseCommit(dir, 6, owner); got != want {
			t.Errorf("a repository of %d: %q", uid, got)
		}
	}
}
