package host

import (
	"slices"
	"strings"

	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/defaults"
)

// protectInTree protects those names of the table that exist in dir.
func (s *gitSearch) protectInTree(dir string) {
	found := s.p.rows(defaults.ProtectedInTree(), dir, 0)
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
	if kindAt(join(dir, ".jj/repo")) == wrap.File { // a working copy whose repository lies elsewhere
		s.protectPath(dir, ".jj/repo", "Jujutsu takes the repository and its settings from the directory that it names")
	}
}

// protectHomes protects the files that programs run from a home, if the home lies in a
// writable tree or is one.
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

// protectInHome protects the table's names in a home that is visible at a path. bin is
// protected only if it is on PATH: a project whose directory is the home may have a bin of its
// own.
func (s *gitSearch) protectInHome(at string, bin bool) {
	s.protectInTree(at)
	for _, row := range defaults.ProtectedInHome() {
		name := join(at, row.Path)
		if row.Path == "bin" && !bin || s.p.isHidden(name) {
			continue
		}
		s.protectPath("/", name, row.Why)
	}
}

// protectLocked protects the agent's own files that could run code on the host later,
// whether or not they exist. For a pattern it protects the matching files that exist, and
// the names that may be created in them.
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
		for _, f := range s.p.rows([]defaults.Row{{Path: base(before) + "*" + tail}}, dir, 0) {
			path := f.Path
			if beneath {
				path = join(path, in)
			}
			s.protectPath("/", path, why)
		}
	}
}
