package host

import (
	"os"
	"path/filepath"
	"testing"

	"sbx/spec"
	"sbx/wrap"
)

// scene is a fake machine in a temporary directory: a root, a home, a workspace.
type scene struct {
	t                *testing.T
	root, home, work string
	env              map[string]string
	r                *spec.Resolved
	uid              int
	needs            []string
	state            string
}

func newScene(t *testing.T) *scene {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{t: t, root: dir, home: dir + "/home/me", work: dir + "/work", env: map[string]string{}, uid: 1000}
	s.dir("home/me")
	s.dir("work")
	work := specPath(s.work, "")
	s.r = &spec.Resolved{
		Spec: &spec.SandboxSpec{}, AccessMode: spec.WorkspaceWrite, Home: s.home, WorkingDir: work,
		Private: true, FileRules: true, SideDoors: true, Network: spec.NetworkNone,
		// A temporary directory lies in the private /tmp: this puts it in view.
		Read:  []spec.Path{specPath(dir, "")},
		Write: []spec.Path{work},
	}
	return s
}

// specPath is a path of a spec that exists.
func specPath(path, field string) spec.Path {
	st, err := os.Stat(path)
	return spec.Path{Asked: path, Abs: path, Real: path, Exists: err == nil, IsDir: err == nil && st.IsDir(), Field: spec.Field(field)}
}

func (s *scene) dir(rel string) string {
	s.t.Helper()
	path := filepath.Join(s.root, rel)
	if err := os.MkdirAll(path, 0o755); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *scene) file(rel, text string) string {
	s.t.Helper()
	s.dir(filepath.Dir(rel))
	path := filepath.Join(s.root, rel)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *scene) link(target, rel string) string {
	s.t.Helper()
	s.dir(filepath.Dir(rel))
	path := filepath.Join(s.root, rel)
	if err := os.Symlink(target, path); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *scene) prober() *secretSearch {
	p := &prober{r: s.r, root: s.root, env: func(name string) (string, bool) { v, ok := s.env[name]; return v, ok }}
	p.h.UID, p.h.Home = s.uid, s.r.Home
	return &secretSearch{mountTable: &mountTable{prober: p}}
}

// git runs git in the directory rel of the scene.
func (s *scene) git(rel string, args ...string) string {
	s.t.Helper()
	return git(s.t, s.home, filepath.Join(s.root, rel), args...)
}

// protect probes for protected names.
func (s *scene) protect() *wrap.Host {
	s.t.Helper()
	p := s.prober()
	p.protectedNames()
	checkOrder(s.t, s.r, &p.h)
	return &p.h
}

// secrets probes for secrets.
func (s *scene) secrets() *wrap.Host {
	p := s.prober()
	p.secrets()
	(&lister{prober: p.prober}).listings(p.crowded)
	return &p.h
}

// rel is path as seen from the scene's root.
func (s *scene) rel(path string) string {
	rel, err := filepath.Rel(s.root, path)
	if err != nil {
		s.t.Fatal(err)
	}
	return rel
}

// checkOrder checks what Build relies on: Protected is sorted, has no duplicates, and lists
// each directory before its contents.
func checkOrder(t *testing.T, r *spec.Resolved, h *wrap.Host) {
	t.Helper()
	have := map[string]bool{}
	for i, p := range h.Protected {
		if i > 0 && h.Protected[i-1].Path >= p.Path {
			t.Errorf("%s does not come after %s", p.Path, h.Protected[i-1].Path)
		}
		if p.Why == "" || p.Kind == wrap.Absent || p.Link != (p.Kind == wrap.Symlink) {
			t.Errorf("%+v", p)
		}
		for _, o := range h.Protected[:i] {
			if !o.Shared && !o.Link && o.Kind == wrap.Dir && beneath(p.Path, o.Path) {
				t.Errorf("%s lies in the protected %s", p.Path, o.Path)
			}
		}
		have[p.Path] = true
	}
	tops := map[string]bool{}
	for _, w := range r.Write {
		tops[w.Real] = true
	}
	for _, repo := range h.Repositories {
		tops[repo.Common] = tops[repo.Common] || repo.Outside
	}
	for _, p := range h.Protected {
		for up := parent(p.Path); !tops[up]; up = parent(up) {
			if !have[up] {
				t.Fatalf("%s is not a mount point, but %s is protected", up, p.Path)
			}
		}
	}
}

func TestResolve(t *testing.T) {
	s := newScene(t)
	s.file("work/a/f", "")
	s.link("a", "work/l")
	s.link("/nowhere/at/all", "work/dangling")
	s.link("loop", "work/loop")
	s.link("../work/l/f", "work/up")
	for path, want := range map[string]resolved{
		"a/f":           {path: s.work + "/a/f", kind: wrap.File},
		"l/f":           {path: s.work + "/a/f", kind: wrap.File, links: []string{s.work + "/l"}},
		"./a/../l/../x": {path: s.work + "/x", kind: wrap.Absent, links: []string{s.work + "/l"}},
		"up":            {path: s.work + "/a/f", kind: wrap.File, links: []string{s.work + "/up", s.work + "/l"}},
		"dangling/x":    {path: "/nowhere/at/all/x", kind: wrap.Absent, links: []string{s.work + "/dangling"}},
		"a/f/g":         {path: s.work + "/a/f/g", kind: wrap.Absent},
		"":              {path: s.work, kind: wrap.Dir},
		"a\x00b":        {path: s.work + "/a\x00b", kind: wrap.Absent},
	} {
		got := resolveIn(s.work, path)
		if got.path != want.path || got.kind != want.kind || len(got.links) != len(want.links) {
			t.Errorf("%q: %+v", path, got)
		}
		if real, err := filepath.EvalSymlinks(filepath.Join(s.work, path)); err == nil && real != got.path {
			t.Errorf("%q is %s, not %s", path, real, got.path)
		}
	}
	if got := resolveIn(s.work, "loop/x"); got.kind != wrap.Absent || len(got.links) > 41 {
		t.Errorf("loop: %+v", got)
	}
}
