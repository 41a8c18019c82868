package host

import (
	"sbx/spec"
	"sbx/wrap"
)

// isOpened tells whether a document names a secret in filesystem.read or write,
// by its own path or by what it leads to. Naming a directory above opens nothing,
// nor does being the directory that sbx was started in. Naming something beneath
// a directory leaves the directory hidden: Build binds what was named into it.
func (p *prober) isOpened(path, real string) bool {
	for i := range p.r.Read {
		if n := &p.r.Read[i]; n.Field != "" && p.means(n, path, real) {
			return true
		}
	}
	for i := range p.r.Write {
		if n := &p.r.Write[i]; n.Field != "" && p.means(n, path, real) {
			return true
		}
	}
	return false
}

// names tells whether a path of the spec means a secret. What it leads to by a
// link in a writable tree does not count: an earlier command may have left that.
func (p *prober) means(n *spec.Path, path, real string) bool {
	return n.Abs == path || n.Abs == real || (n.Real == path || n.Real == real) && !p.r.Planted(n)
}

// inView tells whether a path is in view in the sandbox as far as private
// directories go: outside of them, or beneath a path that the spec names and that
// is therefore bound into them.
func (p *prober) inView(path string) bool {
	if !p.r.Private {
		return true
	}
	private := false
	for _, row := range wrap.PrivateFolders() {
		private = private || within(path, row.Path)
	}
	if !private && !within(path, "/var/run") {
		return true
	}
	for i := range p.r.Read {
		if within(path, p.r.Read[i].Real) || within(path, p.r.Read[i].Abs) {
			return true
		}
	}
	for i := range p.r.Write {
		if within(path, p.r.Write[i].Real) || within(path, p.r.Write[i].Abs) {
			return true
		}
	}
	for i := range p.r.Mounts {
		if p.r.Mounts[i].Source.Real != "" && within(path, p.r.Mounts[i].Source.Real) {
			return true
		}
	}
	return within(path, p.r.WorkingDir.Real)
}
