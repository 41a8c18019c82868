package launch

import (
	"sbx/spec"
	"sbx/wrap"
)

// ownTrees makes trees of the folders that an agent writes.
func (s *gitSearch) ownTrees() {
	for i := range s.p.r.Write {
		if w := &s.p.r.Write[i]; w.Field == wrap.FieldAgent && w.Exists && w.IsDir {
			s.addOwn(w.Real)
		}
	}
}

// locked protects what of an agent's own makes the host run something later,
// there or to come.
func (s *gitSearch) locked() {
	for i := range s.p.r.Own {
		if o := &s.p.r.Own[i]; o.Mode == spec.OwnLocked {
			s.protectPath("/", o.Abs, "an agent on the host runs what it says")
		}
	}
}

// top protects the names at the top of a tree, and the repository that it is.
func (s *gitSearch) top(tree string) {
	s.namesIn(tree)
	if kind := kindAt(join(tree, ".git")); kind != wrap.Absent {
		s.repository(tree, kind)
	}
}
