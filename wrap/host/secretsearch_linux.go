package host

import (
	"slices"

	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/defaults"
)

// secretSearch finds the paths that are hidden by default.
type secretSearch struct {
	*mountTable
	outOfView []wrap.Found // secrets that private directories hide at their own path
	homesSeen []home       // homes that were searched
	agent     spec.Agent   // the agent whose own secrets stay visible in the home being searched
	crowded   []string     // directories with many homes that are hidden whole
}

// home is a home's path as configured, and its path without symlinks.
type home struct{ path, real string }

// secretRows looks for rows of the table of secrets in a directory, which
// replaces the first skip bytes of their paths.
func (p *secretSearch) secretRows(rows []defaults.Secret, skip int) lookup {
	return lookup{dirs: &p.dirs, n: len(rows), path: func(i int) string {
		return rows[i].Path[skip:]
	}, emit: func(i int, f wrap.Found) {
		if rows[i].Agent != 0 && rows[i].Agent == p.agent {
			return
		}
		if rows[i].DirOnly && (f.Target != "" || f.Kind != wrap.Dir) {
			return
		}
		f.Why, f.Agent = rows[i].Why, rows[i].Agent
		p.hide(f)
	}}
}

// hide adds a secret, unless the spec opens it. A symlink is added twice: by
// its own path and by the path of its target. Path becomes the real location of the name,
// so that the launch can mount on it without following symlinks.
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
		p.outOfView = append(p.outOfView, f) // another mount may still show it
		return
	}
	if f.Target != "" && p.tooWide(f.Real) { // hide the symlink, not its target
		f.Real, f.Kind = f.Path, wrap.Other
	}
	p.h.Secrets = append(p.h.Secrets, f)
	if f.Target != "" && f.Real != f.Path {
		p.hide(wrap.Found{Path: f.Real, Real: f.Real, Kind: f.Kind, Why: f.Why, Agent: f.Agent})
	}
}

func (p *secretSearch) isHidden(path string) bool {
	return slices.ContainsFunc(p.h.Secrets, func(f wrap.Found) bool { return f.Path == path })
}

// tooWide reports whether path holds far more than one secret: it is a
// directory at the top of the tree, or it contains the home or the working directory. A
// symlink or a variable may lead there.
func (p *secretSearch) tooWide(path string) bool {
	return parent(path) == "/" || within(p.r.Home, path) || within(p.r.WorkingDir.Real, path)
}
