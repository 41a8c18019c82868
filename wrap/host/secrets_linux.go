package host

import (
	"slices"

	"sbx/spec"
	"sbx/wrap"
)

// secrets finds the default secrets that stand here and that the spec does not
// open.
func (p *secretSearch) secrets() {
	table := wrap.Secrets()
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
	in.from(p.root, p.root)
	in = p.secretRows(table[tilde:], len("~/"))
	for _, path := range p.homes() {
		if p.agent = 0; path == p.r.Home {
			p.agent = p.r.Agent
		}
		if real := in.from(path, ""); real != "" {
			p.seen = append(p.seen, home{path, real})
		}
	}
	p.agent = p.r.Agent
	p.movedFolders(table[tilde:])
	p.movedSecrets()
	p.socketVars()
	p.hideState()
	p.again()
	p.prune()
}

// secretRows looks for rows of the table beneath a directory; the first skip bytes
// of their paths stand for it.
func (p *secretSearch) secretRows(rows []wrap.Secret, skip int) lookup {
	return lookup{p: p.prober, n: len(rows), path: func(i int) string {
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
		p.unseen = append(p.unseen, f) // here, if not by another mount
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

// isOpened tells whether a document names a secret in filesystem.read or write,
// by its own path or by what it leads to. Naming a directory above opens nothing,
// nor does being the directory that sbx was started in. Naming something beneath
// a directory leaves the directory hidden: Build binds what was named into it.
func (p *prober) isOpened(path, real string) bool {
	for i := range p.r.Read {
		if n := &p.r.Read[i]; n.Field != "" && p.names(n, path, real) {
			return true
		}
	}
	for i := range p.r.Write {
		if n := &p.r.Write[i]; n.Field != "" && p.names(n, path, real) {
			return true
		}
	}
	return false
}

// names tells whether a path of the spec means a secret. What it leads to by a
// link in a writable tree does not count: an earlier command may have left that.
func (p *prober) names(n *spec.Path, path, real string) bool {
	return n.Abs == path || n.Abs == real || (n.Real == path || n.Real == real) && !p.r.Planted(n)
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

// prune takes out what lies in a hidden directory.
func (p *secretSearch) prune() {
	folders := make(map[string]bool, len(p.h.Secrets))
	for i := range p.h.Secrets {
		if f := &p.h.Secrets[i]; f.Kind == wrap.Dir && f.Target == "" {
			folders[f.Path] = true
		}
	}
	p.h.Secrets = slices.DeleteFunc(p.h.Secrets, func(f wrap.Found) bool {
		for dir := parent(f.Path); dir != "/"; dir = parent(dir) {
			if folders[dir] {
				return true
			}
		}
		return false
	})
}
