package audit

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/dirs/dirstest"
	"sbx/spec"
)

func TestStateDir(t *testing.T) {
	for _, c := range []struct {
		env  []string
		home string
		want string
	}{
		{nil, "/home/me", "/home/me/.local/state/sbx"},
		{[]string{"XDG_STATE_HOME=/s"}, "/home/me", "/s/sbx"},
		{[]string{"XDG_STATE_HOME=/s/"}, "", "/s/sbx"},
		{[]string{"XDG_STATE_HOME=s"}, "/home/me", "/home/me/.local/state/sbx"},
		{[]string{"XDG_STATE_HOME="}, "/home/me/", "/home/me/.local/state/sbx"},
		{[]string{"XDG_STATE_HOME=/a", "XDG_STATE_HOME=/b"}, "", "/a/sbx"},
		{[]string{"XXDG_STATE_HOME=/a"}, "", ""},
		{nil, "", ""},
		{nil, "relative", ""},
		{nil, "/", "/.local/state/sbx"},
	} {
		if got := StateDir(c.env, c.home); got != c.want {
			t.Errorf("%q %q: got %q, want %q", c.env, c.home, got, c.want)
		}
	}
}

// open calls Open with a state directory of the test's own.
func open(t *testing.T, state, effective string) *Sink {
	t.Helper()
	var opt spec.Opt[string]
	if effective != "" {
		opt = spec.Some(effective)
	}
	s, err := Open(opt, "", []string{"XDG_STATE_HOME=" + state}, "", id(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.free)
	return s
}

func id(t testing.TB) string {
	t.Helper()
	id, err := NewID(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func state(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return v.State
}

func TestSinkInStateDir(t *testing.T) {
	dirstest.NoLeak(t)
	old := unix.Umask(0)
	defer unix.Umask(old)
	dir := dirstest.Temp(t)
	s := open(t, dir+"/not/there/yet", "")
	if err := s.Write(Record{ID: s.id}); err != nil {
		t.Fatal(err)
	}
	if got := state(t, s.Path()); got != "running" {
		t.Errorf("state %s", got)
	}
	for p, want := range map[string]os.FileMode{s.Path(): 0o600, filepath.Dir(s.Path()): 0o700 | os.ModeDir, dir + "/not/there/yet/sbx": 0o700 | os.ModeDir, dir + "/not": 0o700 | os.ModeDir} {
		if fi, err := os.Stat(p); err != nil || fi.Mode() != want {
			t.Errorf("%s: %v, %v, want %v", p, fi.Mode(), err, want)
		}
	}
	fd, path, err := s.Run()
	if err != nil || fd != s.dir || path != filepath.Dir(s.Path()) {
		t.Errorf("run directory %d %s %v", fd, path, err)
	}
	if err := s.Close(Record{ID: s.id, EndedAt: time.Now()}); err != nil {
		t.Fatal(err)
	}
	if got := state(t, s.Path()); got != "exited" {
		t.Errorf("state %s", got)
	}
	if list, _ := os.ReadDir(filepath.Dir(s.Path())); len(list) != 2 || list[1].Name() != launchName {
		t.Errorf("%v is left", list)
	}
	if err := s.Write(Record{}); err == nil {
		t.Error("a closed sink took a record")
	}
}

func TestSinkNamed(t *testing.T) {
	dirstest.NoLeak(t)
	dir := dirstest.Temp(t)
	s := open(t, dir+"/state", dir+"/out.json")
	if err := s.Write(Record{ID: s.id}); err != nil {
		t.Fatal(err)
	}
	if dirstest.Exists(dir + "/state") {
		t.Error("the state directory was made for a record that is elsewhere")
	}
	if _, path, err := s.Run(); err != nil || !dirstest.Exists(path) || !strings.HasPrefix(path, dir+"/state/sbx/runs/") {
		t.Errorf("%s, %v", path, err)
	}
	// The directory stays open: after it is renamed, the record still goes there.
	if err := os.Mkdir(dir+"/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	u := open(t, dir+"/state", dir+"/sub/out.json")
	if err := os.Rename(dir+"/sub", dir+"/moved"); err != nil {
		t.Fatal(err)
	}
	if err := u.Close(Record{}); err != nil || !dirstest.Exists(dir+"/moved/out.json") {
		t.Errorf("%v", err)
	}
}

func TestSinkByEnvironment(t *testing.T) {
	dir := dirstest.Temp(t)
	env := []string{"SBX_EFFECTIVE=" + dir + "/env.json", "XDG_STATE_HOME=" + dir + "/state"}
	for _, c := range []struct {
		flag spec.Opt[string]
		env  []string
		want string
	}{
		{spec.Opt[string]{}, env, dir + "/env.json"},
		{spec.Some(dir + "/flag.json"), env, dir + "/flag.json"},
		{spec.Opt[string]{}, []string{"SBX_EFFECTIVE=", "XDG_STATE_HOME=" + dir}, dir + "/sbx/runs/x/effective.json"},
	} {
		s, err := Open(c.flag, "", c.env, "", "x")
		if err != nil || s.Path() != c.want {
			t.Errorf("%v, %v, want %s", s, err, c.want)
			continue
		}
		s.free()
	}
}

func TestSinkRefuses(t *testing.T) {
	dirstest.NoLeak(t)
	dir := dirstest.Temp(t)
	dirstest.Plant(t, dir, "file", "folder/")
	if err := unix.Mkfifo(dir+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	for name, why := range map[string]string{
		"": "empty", "/": "directory", ".": "directory", "..": "directory", dir + "/": "directory", dir + "/folder": "directory", dir + "/folder/": "directory",
		dir + "/folder/..": "directory", dir + "/no/out.json": "no such file", dir + "/file/out.json": "not a directory", dir + "/fifo": "regular",
		"/dev/null": "regular", "/dev/stdout": "regular", dir + "/a\x00b": "null byte",
	} {
		s, err := Open(spec.Some(name), "", nil, dir, "x")
		var p *spec.Problem
		if err == nil {
			s.free()
		}
		if !errors.As(err, &p) || !strings.Contains(p.Why, why) {
			t.Errorf("%q: %v, want a problem that says %q", name, err, why)
		}
	}
	if dirstest.Exists(dir + "/no") {
		t.Error("a parent was made")
	}
	if _, err := Open(spec.Opt[string]{}, "", nil, "", "x"); err == nil {
		t.Error("a caller with no home and no state directory has a sink")
	}
}

func TestSinkReplacesALink(t *testing.T) {
	dir := dirstest.Temp(t)
	dirstest.Plant(t, dir, "outside")
	for _, target := range []string{dir + "/outside", "dangling", "/dev/null", dir} {
		link := dir + "/link"
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		s := open(t, dir, link)
		if err := s.Close(Record{}); err != nil {
			t.Fatal(err)
		}
		if fi, err := os.Lstat(link); err != nil || !fi.Mode().IsRegular() {
			t.Errorf("%s: %v %v", target, fi.Mode(), err)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
	if b, _ := os.ReadFile(dir + "/outside"); string(b) != "outside" {
		t.Errorf("the link was followed: %q", b)
	}
	// A link that was made after Open is replaced as well.
	s := open(t, dir, dir+"/late")
	if err := os.Symlink(dir+"/outside", dir+"/late"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(Record{}); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(dir + "/outside"); string(b) != "outside" {
		t.Errorf("the link was followed: %q", b)
	}
}

// TestSinkLateDir checks that a directory which the command puts in the record's place is kept.
func TestSinkLateDir(t *testing.T) {
	dir := dirstest.Temp(t)
	s := open(t, dir, dir+"/r.json")
	dirstest.Plant(t, dir, "r.json/inside")
	if err := s.Close(Record{}); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("%v", err)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 || !dirstest.Exists(dir+"/r.json/inside") {
		t.Errorf("%v", list)
	}
}

func TestSinkReadOnlyDir(t *testing.T) {
	dirstest.AsUser(t)
	dir := dirstest.Temp(t)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	if _, err := Open(spec.Opt[string]{}, "", nil, dir, "x"); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("state directory: %v", err)
	}
	s, err := Open(spec.Some(dir+"/x"), "", nil, dir, "x")
	if err != nil {
		t.Fatal(err)
	}
	defer s.free()
	if err := s.Write(Record{}); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("named: %v", err)
	}
}

// TestSinkFullDisk checks that on a full disk the old record stays, and no temporary file.
func TestSinkFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: mounts a tmpfs")
	}
	dir := dirstest.Temp(t)
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Fatal(err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	s := open(t, dir, dir+"/r.json")
	if err := s.Write(Record{ID: "first"}); err != nil {
		t.Fatal(err)
	}
	_ = os.WriteFile(dir+"/fill", make([]byte, 1<<20), 0o600)
	err := s.Write(Record{Command: Command{Argv: []string{strings.Repeat("x", 4000), strings.Repeat("x", 4000), strings.Repeat("x", 4000)}}})
	if err == nil || !strings.Contains(err.Error(), "no space") {
		t.Errorf("%v", err)
	}
	if state(t, dir+"/r.json") != "running" {
		t.Error("the first record is gone")
	}
	if list, _ := filepath.Glob(dir + "/.sbx-*"); len(list) != 0 {
		t.Errorf("%v is left", list)
	}
}

// TestTwoRunsAtOnce checks that a reader always sees one of two records as a whole.
func TestTwoRunsAtOnce(t *testing.T) {
	dir := dirstest.Temp(t)
	path := dir + "/r.json"
	var wg sync.WaitGroup
	for _, id := range []string{"a", strings.Repeat("b", 3000)} {
		s := open(t, dir, path)
		wg.Go(func() {
			for range 300 {
				if err := s.Write(Record{ID: id}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 300 {
		if b, err := os.ReadFile(path); err == nil && !json.Valid(b) {
			t.Fatalf("half a record: %d bytes", len(b))
		}
	}
	wg.Wait()
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("%v is left", list)
	}
}

func BenchmarkOpenAndFirstWrite(b *testing.B) {
	dir := dirstest.Temp(b)
	env := []string{"XDG_STATE_HOME=" + dir}
	r := sample()
	b.ReportAllocs()
	for b.Loop() {
		id, _ := NewID(time.Now())
		r.Supervisor = Self()
		s, err := Open(spec.Opt[string]{}, "", env, "", id)
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Write(r); err != nil {
			b.Fatal(err)
		}
		s.free()
	}
}

// TestSinkInADirThatWasClosed checks that a command which may change the mode of the record's
// directory cannot prevent the final record that way.
func TestSinkInADirThatWasClosed(t *testing.T) {
	dirstest.AsUser(t)
	dir := dirstest.Temp(t)
	s := open(t, dir, dir+"/r.json")
	if err := s.Write(Record{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Create(dir + "/control"); err == nil {
		f.Close()
		t.Fatal("the directory is not closed")
	}
	if err := s.Close(Record{ID: "a", EndedAt: time.Now()}); err != nil {
		t.Error(err)
	}
	if got := state(t, dir+"/r.json"); got != "exited" {
		t.Errorf("state %s", got)
	}
}
