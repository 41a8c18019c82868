package host

import "sbx/wrap"

// targets examines the targets of the spec's mounts. If a target does not exist, the
// launch creates it, and may have to rebuild the nearest existing directory: its names are
// listed.
func (p *lister) targets() {
	p.kindOf("/sys")
	for i := range p.r.Mounts {
		path := p.r.Mounts[i].Target
		p.kindOf(path)
		for path != "/" && p.h.Paths[path] == wrap.Absent {
			path = parent(path)
			p.kindOf(path)
		}
		if p.h.Paths[p.r.Mounts[i].Target] == wrap.Absent {
			p.list(path)
		}
		p.beneathOthers(p.r.Mounts[i].Target)
	}
	for i := range p.r.Read {
		if p.r.Read[i].Real == "/" {
			p.list("/")
		}
	}
	if root := p.r.Root.Real; root != "" {
		p.listAll(root) // each name becomes a path in the sandbox
	}
	for i := range p.r.Hide {
		if host, mapped := p.r.Outside(p.r.Hide[i].Abs); mapped {
			p.kindOf(host)
		}
		if h := &p.r.Hide[i]; h.Exists && !h.IsDir {
			p.list(parent(h.Real))
		}
	}
}

// beneathOthers records the kind of a mount's target where it lies in another mount's
// source or in the sandbox's own root.
func (p *lister) beneathOthers(target string) {
	for i := range p.r.Mounts {
		if m := &p.r.Mounts[i]; target != m.Target && within(target, m.Target) {
			p.kindOf(m.Source.Real + target[len(m.Target):])
		}
	}
	if root := p.r.Root.Real; root != "" {
		p.kindOf(root + target)
	}
}
