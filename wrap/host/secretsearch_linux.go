package host

import (
	"sbx/spec"
	"sbx/wrap"
)

// secretSearch finds what is hidden by default.
type secretSearch struct {
	*mountTable
	outOfView []wrap.Found // what is out of view where it stands
	homesSeen []home       // the homes that were looked at
	agent     spec.Agent   // whose own secrets stay in view where they are looked for
	crowded   []string     // directories in which many homes are hidden whole
}

// home is a home as it is called, and without links.
type home struct{ path, real string }

// secretRows looks for rows of the table beneath a directory; the first skip bytes
// of their paths stand for it.
func (p *secretSearch) secretRows(rows []wrap.Secret, skip int) lookup {
	return lookup{dirs: &p.dirs, n: len(rows), path: func(i int) string {
		return rows[i].Path[skip:]
	}, emit: func(i int, f wrap.Found) {
		if rows[i].Agent != 0 && rows[i].Agent == p.agent {
			return
		}
		if rows[i].Folder && (f.Target != "" || f.Kind != wrap.Dir) {
			return
		}
		f.Why, f.Agent = rows[i].Why, rows[i].Agent
		p.hide(f)
	}}
}

// hide adds a secret, unless the spec opens it. A link is added by its name and
// by what it leads to. Path is where the name really stands, so that it can be
// mounted on without following links.
func (p *secretSearch) hide(f wrap.Found) {
	if f.Target == "" {
		f.Path = f.Real
	} else {
		f.Path = join(resolve(parent(f.Path)).path, base(f.Path))
	}
	if p.isOpened(f.Path, f.Real) || p.isHidden(f.Path) {
		return
	}
	if !p.inView(f.Path) {
		p.outOfView = append(p.outOfView, f) // here, if not by another mount
		return
	}
	if f.Target != "" && p.tooWide(f.Real) { // by its name alone
		f.Real, f.Kind = f.Path, wrap.Other
	}
	p.h.Secrets = append(p.h.Secrets, f)
	if f.Target != "" && f.Real != f.Path {
		p.hide(wrap.Found{Path: f.Real, Real: f.Real, Kind: f.Kind, Why: f.Why, Agent: f.Agent})
	}
}

func (p *secretSearch) isHidden(path string) bool {
	for i := range p.h.Secrets {
		if p.h.Secrets[i].Path == path {
			return true
		}
	}
	return false
}

// tooWide tells whether path cannot be meant as a secret, since far more than
// one lies in it: a link or a variable that leads to the root, to a directory at
// the top, or to one that holds the home or the place where the command starts.
func (p *secretSearch) tooWide(path string) bool {
	return parent(path) == "/" || within(p.r.Home, path) || within(p.r.WorkingDir.Real, path)
}
