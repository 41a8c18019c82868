package host

import (
	"os"
	"slices"
	"testing"

	"sbx/wrap"
)

// The command can remove linked worktrees whose files all lie in writable trees and have the
// form that git gives them.
func TestLinkedWorktrees(t *testing.T) {
	s := newScene(t)
	s.git("work", "init", "-q")
	s.git("work", "-c", "user.name=a", "-c", "user.email=b", "commit", "-q", "--allow-empty", "-m", "x")
	for _, n := range []string{"in", "deep/er", "gone", "moved", "led", "linked"} {
		s.git("work", "worktree", "add", "-q", n)
	}
	s.git("work", "worktree", "add", "-q", s.root+"/away")
	w := s.work
	for _, err := range []error{os.RemoveAll(w + "/gone"), os.Rename(w+"/moved", w+"/now"), os.Rename(w+"/linked", w+"/real"), os.Symlink("real", w+"/linked"),
		os.WriteFile(w+"/led/.git", []byte("gitdir: "+w+"/.git/worktrees/in\n"), 0o644)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	h := s.protect()
	got := map[string][]string{}
	for _, l := range h.Worktrees {
		got[l.Admin[len(w+"/.git/worktrees/"):]] = l.Dots
	}
	want := map[string][]string{"er": {w + "/deep/er/.git"}, "gone": {w + "/gone/.git"}, "moved": {w + "/moved/.git", w + "/now/.git"},
		"in": {w + "/in/.git", w + "/led/.git"}}
	for name := range want {
		if !slices.Equal(got[name], want[name]) {
			t.Errorf("%s: %q, want %q", name, got[name], want[name])
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("and more: %q", got)
	}
	if kind := kindAt(w + "/led/.git"); kind != wrap.File {
		t.Error(kind)
	}
}
