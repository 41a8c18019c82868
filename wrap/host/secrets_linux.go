package host

import (
	"slices"

	"sbx/wrap"
	"sbx/wrap/defaults"
)

// secrets finds the default secrets that exist on this host and that the spec
// does not open.
func (p *secretSearch) secrets() {
	table := defaults.Secrets()
	tilde := 0
	for tilde < len(table) && table[tilde].Path[0] == '/' {
		tilde++
	}
	absolute := table[:tilde]
	if p.h.UID != 0 {
		absolute = nil
		for i := range table[:tilde] {
			if !table[i].Root {
				absolute = append(absolute, table[i])
			}
		}
	}
	in := p.secretRows(absolute, len("/"))
	in.lookUnder(p.root, p.root)
	in = p.secretRows(table[tilde:], len("~/"))
	for _, path := range p.homes() {
		if p.agent = 0; path == p.r.Home {
			p.agent = p.r.Agent
		}
		if real := in.lookUnder(path, ""); real != "" {
			p.homesSeen = append(p.homesSeen, home{path, real})
		}
	}
	p.agent = p.r.Agent
	p.movedDirs(table[tilde:])
	p.movedSecrets()
	p.socketVars()
	p.hideState()
	p.hideElsewhere()
	p.prune()
}

// prune removes the secrets that lie in a hidden directory.
func (p *secretSearch) prune() {
	hidden := make(map[string]bool, len(p.h.Secrets))
	for i := range p.h.Secrets {
		if f := &p.h.Secrets[i]; f.Kind == wrap.Dir && f.Target == "" {
			hidden[f.Path] = true
		}
	}
	p.h.Secrets = slices.DeleteFunc(p.h.Secrets, func(f wrap.Found) bool {
		for dir := parent(f.Path); dir != "/"; dir = parent(dir) {
			if hidden[dir] {
				return true
			}
		}
		return false
	})
}
