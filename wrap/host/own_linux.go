package host

import (
	"strings"

	"sbx/spec"
	"sbx/wrap"
)

// ownTrees makes trees of the directories that an agent writes.
func (s *gitSearch) ownTrees() {
	for i := range s.p.r.Write {
		if w := &s.p.r.Write[i]; w.Field == wrap.FieldAgent && w.Exists && w.IsDir {
			s.addOwn(w.Real)
		}
	}
}

// locked protects what of an agent's own makes the host run something later,
// there or to come; of names that a pattern means, those that are there, and what
// may be in them.
func (s *gitSearch) locked() {
	const why = "an agent on the host runs what it says"
	for i := range s.p.r.Own {
		o := &s.p.r.Own[i]
		if o.Mode != spec.OwnLocked {
			continue
		}
		before, after, pattern := strings.Cut(o.Real, "*")
		if !pattern {
			s.protectPath("/", o.Abs, why)
			continue
		}
		dir := parent(before + "*")
		tail, in, beneath := strings.Cut(after, "/")
		for _, f := range s.p.rows([]wrap.Row{{Path: base(before) + "*" + tail}}, dir, false) {
			path := f.Path
			if beneath {
				path = join(path, in)
			}
			s.protectPath("/", path, why)
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
