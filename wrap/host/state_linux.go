package host

import (
	"sbx/spec"
	"sbx/wrap"
)

// stateWhy is the reason for hiding sbx's state directory.
const stateWhy = "sbx's own records: what ran, and what may not be rewritten"

// Leads returns the path that an absolute path resolves to, and every other path at which
// another mount shows the same file. The file need not exist.
func Leads(path string) []string {
	at := resolve(path).path
	near := at
	for near != "/" && kindAt(near) == wrap.Absent {
		near = parent(near)
	}
	p := mountTable{prober: &prober{r: &spec.Resolved{}}}
	p.mounts()
	all := []string{at}
	for _, other := range p.otherPathsOf(near) {
		all = append(all, join(other, relative(at, near)))
	}
	return all
}

// stateDir returns sbx's state directory according to the caller's environment.
func (p *prober) stateDir() string {
	home, _ := p.env("XDG_STATE_HOME")
	return wrap.StateDir(home, p.r.Home)
}

// state records sbx's own state directory, and the kinds of the directories above it up to
// the nearest one that exists.
func (p *prober) state() {
	named := p.stateDir()
	if named == "" {
		return
	}
	at := resolve(named)
	p.h.State, p.h.StateLinks = at.path, at.links
	for dir := at.path; p.h.Paths[dir] == wrap.Absent && dir != "/"; dir = parent(dir) {
		p.kindOf(dir)
	}
}

// hideState hides the state directory in every sandbox that can hide it: a record must stay
// trustworthy whatever the spec of a later run says.
func (p *secretSearch) hideState() {
	if path := p.h.State; p.h.Kind(path) == wrap.Dir {
		p.hide(wrap.Found{Path: path, Real: path, Kind: wrap.Dir, Why: stateWhy})
	}
}

// protectState protects the symlinks on the way to sbx's state directory, and its name if the
// directory does not exist.
func (s *gitSearch) protectState() {
	if s.p.h.State != "" && !s.p.isHidden(s.p.stateDir()) {
		s.protectPath("/", s.p.stateDir(), stateWhy)
	}
}
