package spec

// astray refuses what may be written, or is mounted, where a link leads out of the
// folder that the command works in: an earlier command may have left that link,
// and would choose what a later one may do.
func (r *resolver) astray() {
	if !r.out.Confined {
		return // it may write there anyway
	}
	own := r.out.own()
	check := func(p *Path, f Field, do string) {
		if l := linkIn(p, own); l != nil && !staysIn(p, own) {
			r.refuse(f, do, odd(l.Path)+" is a link that leads out of the workspace, to "+odd(p.Real)+": an earlier command may have left it", "name "+odd(p.Real)+" itself, if that is meant")
		}
	}
	for i := range r.out.Write {
		if w := &r.out.Write[i]; w.InWrite() {
			check(w, w.Field, "write "+odd(w.Asked))
		}
	}
	for i := range r.out.Mounts {
		if m := &r.out.Mounts[i]; m.Mode != MountTmpfs {
			check(&m.Source, m.Source.Field, "mount at "+odd(m.Mount.Target))
		}
	}
}

// own are the folders whose content is the command's.
func (r *Resolved) own() (own []*Path) {
	if r.WorkingDir.Exists {
		own = append(own, &r.WorkingDir)
	}
	for i := range r.Write {
		if w := &r.Write[i]; w.Exists && w.IsDir && linkIn(w, own[:min(len(own), 1)]) == nil {
			own = append(own, w)
		}
	}
	return own
}

// Astray is the link by which a path of the caller's leads out of the folders
// whose content is the command's, and where it leads: an earlier command may have
// left it. Both are "" where there is none.
func (r *Resolved) Astray(path string, paths Paths) (link, real string) {
	p, err := resolvePath(paths, path)
	if err != nil || !r.Confined {
		return "", ""
	}
	own := r.own()
	if l := linkIn(&p, own); l != nil && !staysIn(&p, own) {
		return l.Path, p.Real
	}
	return "", ""
}

// linkIn is the first link on the way to p that stands in one of the folders.
func linkIn(p *Path, own []*Path) *Link {
	for i := range p.Links {
		for _, o := range own {
			if o != p && p.Links[i].Path != o.Real && within(o.Real, p.Links[i].Path) {
				return &p.Links[i]
			}
		}
	}
	return nil
}

// staysIn tells whether p lies in one of the folders all the same.
func staysIn(p *Path, own []*Path) bool {
	for _, o := range own {
		if o != p && within(o.Real, p.Real) {
			return true
		}
	}
	return false
}
