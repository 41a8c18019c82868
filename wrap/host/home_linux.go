package host

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/spec"
	"sbx/wrap"
)

// homeLayer looks at the home of an agent, and at the files directly in it that
// the agent reads.
func (p *prober) homeLayer() {
	if !p.r.HomeLayer {
		return
	}
	at := resolve(p.r.Home)
	var st unix.Stat_t
	if at.kind != wrap.Dir || unix.Lstat(at.path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return
	}
	p.h.HomeReal, p.h.HomeMode = at.path, st.Mode&0o777
	for i := range p.r.Own {
		if o := &p.r.Own[i]; o.Mode == spec.OwnRead && o.Exists && !o.IsDir {
			p.kindOf(o.Real)
		}
	}
}

// home is a home as it is called, and without links.
type home struct{ path, real string }

// homeNames protects what is run from a home that lies in a writable tree, or is
// one.
func (s *gitSearch) homeNames() {
	path, _ := s.p.env("PATH")
	for _, h := range s.p.seen {
		for _, at := range append(s.p.sameElsewhere(h.real), h.real) {
			if anyWithin(at, s.trees) {
				s.namesOf(at, slices.Contains(strings.Split(path, ":"), join(h.path, "bin")))
			}
		}
	}
}

// namesOf protects the names in a home as it is seen at a path. A project whose
// directory is the home has a bin of its own, which is not on PATH.
func (s *gitSearch) namesOf(at string, bin bool) {
	s.namesIn(at)
	for _, row := range wrap.ProtectedInHome() {
		name := join(at, row.Path)
		if row.Path == "bin" && !bin || s.p.isHidden(name) {
			continue
		}
		s.protectPath("/", name, row.Why)
	}
}
