package host

import (
	"os"
	"slices"
	"testing"

	"sbx/wrap"
)

// The search finds everything in modules: git directories of submodules under any name, those
// of other worktrees, and names that belong to none.
func TestModulesAreKnown(t *testing.T) {
	s := newScene(t)
	s.git("work", "init", "-q")
	g := s.work + "/.git"
	dirs := []string{g, g + "/modules/logs/x", g + "/modules/refs", g + "/worktrees/far/modules/sub"}
	for _, rel := range []string{"modules/logs/x", "modules/refs", "worktrees/far/modules/sub"} {
		s.file("work/.git/"+rel+"/HEAD", "ref: refs/heads/main\n")
		s.file("work/.git/"+rel+"/config", "")
		s.dir("work/.git/" + rel + "/objects")
		s.dir("work/.git/" + rel + "/refs")
	}
	s.file("work/.git/modules/left/config", "")
	s.file("work/.git/modules/left/hooks/h", "")
	s.link("left", "work/.git/modules/link")
	h := s.protect()
	for _, dir := range dirs {
		if !slices.Contains(h.GitDirs, dir) {
			t.Errorf("%s is not in %q", dir, h.GitDirs)
		}
		protects(t, h, dir+"/config")
	}
	protects(t, h, g+"/modules/left/config")
	leaves(t, h, g+"/modules/left/hooks")
	known := h.Known()
	for _, p := range []string{g + "/modules/left/hooks", g + "/modules/link", g + "/modules/left/config"} {
		if !slices.Contains(known, p) {
			t.Errorf("%s is not known", p)
		}
	}
	if !slices.ContainsFunc(h.Protected, func(p wrap.Protected) bool { return p.Link && p.Path == g+"/modules/link" }) || h.SearchCut != "" {
		t.Errorf("cut %q\n%s", h.SearchCut, listed(h))
	}
	if os.Geteuid() != 0 {
		if err := os.Chmod(g+"/modules/left", 0); err != nil {
			t.Fatal(err)
		}
		if s.protect().SearchCut == "" {
			t.Error("a directory could not be read, and nothing tells")
		}
		if err := os.Chmod(g+"/modules/left", 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
