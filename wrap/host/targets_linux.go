package host

import "sbx/wrap"

// targets looks at where the spec's mounts go. A target that is not there
// needs the directory that it would be made in, and that directory's names where it
// is put together anew.
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
		p.listAll(root) // each name has a virtual path
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

// beneathOthers looks at what a mount or a workshop's tree has at a target.
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
