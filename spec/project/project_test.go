package project

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sbx/spec"
)

// For every field of the spec it is decided whether an untrusted spec may set it.
func TestEveryFieldIsDecided(t *testing.T) {
	trusted := []spec.Field{"profile", "sandbox.root", "sandbox.readonly", "restrict", "filesystem.mounts", "network.listen",
		"environment.set", "syscalls", "broker.file", "broker.plan", "broker.grant", "best_effort", "require_available", "agent"}
	for _, f := range spec.Fields() {
		if f.Untrusted == slices.Contains(trusted, f.Field) {
			t.Errorf("%s: may a spec that nobody trusts set it?", f.Field)
		}
	}
}

func folder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTop(t *testing.T) {
	dir := folder(t)
	write(t, dir+"/repo/.git/HEAD", "")
	write(t, dir+"/repo/sub/.git", "gitdir: x")
	write(t, dir+"/repo/src/deep/x", "")
	write(t, dir+"/plain/x", "")
	write(t, dir+"/shared/.git/HEAD", "")
	write(t, dir+"/shared/mine/x", "")
	if err := os.Chmod(dir+"/shared", 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("repo/src", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]string{"/repo": "/repo", "/repo/src/deep": "/repo", "/repo/sub": "/repo/sub", "/link": "/repo", "/plain": "/plain",
		"/shared": "", "/shared/mine": "/shared/mine"} {
		if want != "" {
			want = dir + want
		}
		if got, err := Top(dir + at); err != nil || got != want {
			t.Errorf("%s: %q, %v", at, got, err)
		}
	}
	if got, err := Top("/"); err != nil || got != "" {
		t.Errorf("/: %q, %v", got, err)
	}
}

func TestFind(t *testing.T) {
	dir := folder(t)
	if f, err := Find(dir, os.Getuid()); f != nil || err != nil {
		t.Error(f, err)
	}
	write(t, dir+"/.sbx/spec.yaml", "max_commands: 3\n")
	f, err := Find(dir, os.Getuid())
	if err != nil || !f.Own || f.Path() != dir+"/.sbx/spec.yaml" || string(f.Text) != "max_commands: 3\n" {
		t.Fatal(f, err)
	}
	if other, err := Find(dir, os.Getuid()+1); err != nil || other.Own != (os.Getuid() == 0) {
		t.Error("of another user: ", other, err)
	}
	if err := os.Chmod(dir+"/.sbx/spec.yaml", 0); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(dir, os.Getuid()); (err == nil) != (os.Getuid() == 0) {
		t.Error("that cannot be read: ", err)
	}
}

func TestStore(t *testing.T) {
	dir := folder(t)
	s := Store{Dir: dir + "/trust", UID: os.Getuid()}
	f := &File{Top: dir + "/a b\n", Text: []byte("{}"), Digest: digest([]byte("{}"))}
	if s.Trusts(f) {
		t.Error("trusted by nobody")
	}
	for range 2 {
		if err := s.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	changed, moved := *f, *f
	changed.Digest = digest([]byte("{ }"))
	moved.Top = dir
	if !s.Trusts(f) || s.Trusts(&changed) || s.Trusts(&moved) || (Store{UID: s.UID}).Trusts(f) {
		t.Error("not what was added")
	}
	if (Store{Dir: s.Dir, UID: s.UID + 1}).Trusts(f) {
		t.Error("the store is another user's")
	}
	if all, err := s.List(); err != nil || len(all) != 1 || all[0] != (Entry{f.Path(), f.Digest}) {
		t.Error(all, err)
	}
	// A file with another name, or a truncated one, trusts nothing.
	write(t, s.Dir+"/"+strings.Repeat("0", 64), f.Digest+" "+f.Path())
	write(t, s.Dir+"/"+digest([]byte("/x")), "abc /x")
	if all, err := s.List(); err != nil || len(all) != 1 {
		t.Error(all, err)
	}
	if ok, err := s.Remove(f.Path()); !ok || err != nil || s.Trusts(f) {
		t.Error(ok, err)
	}
	if ok, err := s.Remove(f.Path()); ok || err != nil {
		t.Error(ok, err)
	}
	if ok, err := (Store{Dir: dir + "/none", UID: s.UID}).Remove(f.Path()); ok || err != nil {
		t.Error(ok, err)
	}
}

// Relative paths refer to the top of the project, wherever the command starts.
func TestPlace(t *testing.T) {
	f := &File{Top: "/p", Text: []byte("working_dir: src\nfilesystem: {hide: [a, ~/b, /c], write: [\"**/.git\"]}\ncommands: {allow: [sh, ./x]}\n")}
	doc, err := f.Spec()
	if err != nil {
		t.Fatal(err)
	}
	for trusted, mode := range map[bool]string{false: "", true: `"access_mode":"workspace-write",`} {
		placed, err := f.Place(doc, "/home/u", trusted, true)
		if err != nil {
			t.Fatal(err)
		}
		want := `{` + mode + `"commands":{"allow":["sh","/p/src/x"]},"filesystem":{"hide":["/p/src/a","/home/u/b","/c"],"write":["**/.git"]},"working_dir":"/p/src"}`
		if got := string(placed.AppendCanonical(nil)); got != want {
			t.Errorf("trusted %v: %s", trusted, got)
		}
		if at := placed.At("filesystem.hide[1]"); at != "/p/.sbx/spec.yaml:2:24" {
			t.Error(at)
		}
	}
}
