package host

import (
	"slices"
	"strings"

	"sbx/spec"
	"sbx/wrap"
)

// namesIn protects the names of the table that stand in dir.
func (s *gitSearch) protectInTree(dir string) {
	found := s.p.rows(wrap.ProtectedInTree(), dir, false)
	for _, f := range found {
		if f.Target == "" && f.Path == f.Real {
			s.add(f.Path, f.Kind, f.Why)
		} else {
			s.protectPath("/", f.Path, f.Why)
		}
	}
	for i := range found {
		s.protectPrograms(dir, &found[i])
	}
	if kindAt(join(dir, ".jj/repo")) == wrap.File { // one of several working copies
		s.protectPath(dir, ".jj/repo", "Jujutsu takes the repository and its settings from the directory that it names")
	}
}

// homeNames protects what is run from a home that lies in a writable tree, or is
// one.
func (s *gitSearch) protectHomes() {
	path, _ := s.p.env("PATH")
	for _, h := range s.p.homesSeen {
		for _, at := range append(s.p.otherPathsOf(h.real), h.real) {
			if anyWithin(at, s.trees) {
				s.protectInHome(at, slices.Contains(strings.Split(path, ":"), join(h.path, "bin")))
			}
		}
	}
}

// namesOf protects the names in a home as it is seen at a path. A project whose
// directory is the home has a bin of its own, which is not on PATH.
func (s *gitSearch) protectInHome(at string, bin bool) {
	s.protectInTree(at)
	for _, row := range wrap.ProtectedInHome() {
		name := join(at, row.Path)
		if row.Path == "bin" && !bin || s.p.isHidden(name) {
			continue
		}
		s.protectPath("/", name, row.Why)
	}
}

// locked protects what of an agent's own makes the host run something later,
// there or to come; of names that a pattern means, those that are there, and what
// may be in them.
func (s *gitSearch) protectLocked() {
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
