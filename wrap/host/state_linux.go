package host

import (
	"sbx/spec"
	"sbx/wrap"
)

// stateWhy is why sbx's state directory is hidden.
const stateWhy = "sbx's own records: what ran, and what may not be rewritten"

// Leads is where an absolute path leads, links resolved, and everywhere that another
// mount shows the same; it need not be there.
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
		all = append(all, joinRest(other, remainder(at, near)))
	}
	return all
}

// stateDir is sbx's state directory as the caller's environment names it.
func (p *prober) stateDir() string {
	home, _ := p.env("XDG_STATE_HOME")
	return wrap.StateDir(home, p.r.Home)
}

// state finds sbx's own state directory, or the nearest one above it.
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

// hideState hides the directory, as every sandbox does that can: a record is to be
// believed whatever the spec was of a run that came after it.
func (p *secretSearch) hideState() {
	if path := p.h.State; p.h.Kind(path) == wrap.Dir {
		p.hide(wrap.Found{Path: path, Real: path, Kind: wrap.Dir, Why: stateWhy})
	}
}

// wayToState protects the links by which sbx's state is reached, and its name where
// it is not there.
func (s *gitSearch) protectState() {
	if s.p.h.State != "" && !s.p.isHidden(s.p.stateDir()) {
		s.protectPath("/", s.p.stateDir(), stateWhy)
	}
}
