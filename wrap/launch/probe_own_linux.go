package launch

import (
	"strings"

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
// there or to come; of names that a pattern means, those that are there.
func (s *gitSearch) locked() {
	const why = "an agent on the host runs what it says"
	for i := range s.p.r.Own {
		o := &s.p.r.Own[i]
		switch name := base(o.Abs); {
		case o.Mode != spec.OwnLocked:
		case strings.Contains(name, "*"):
			for _, f := range s.p.rows([]wrap.Row{{Path: name, Why: why}}, parent(o.Real), false) {
				s.protectPath("/", f.Path, why)
			}
		default:
			s.protectPath("/", o.Abs, why)
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
