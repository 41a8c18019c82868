package host

import (
	"sbx/spec"
	"sbx/wrap/defaults"
)

// isOpened reports whether a document names a secret in filesystem.read or write,
// either by its own path or by the path it resolves to. A document that names a directory
// above the secret does not open it, nor does starting sbx in it. If a document names
// something inside a secret directory, the directory stays hidden and Build binds the named
// path into it.
func (p *prober) isOpened(path, real string) bool {
	for _, list := range [...][]spec.Path{p.r.Read, p.r.Write} {
		for i := range list {
			if n := &list[i]; n.Field != "" && p.means(n, path, real) {
				return true
			}
		}
	}
	return false
}

// means reports whether a path of the spec names the given secret. A path that
// resolves to the secret only through a symlink in a writable tree does not count: an
// earlier command may have planted that symlink.
func (p *prober) means(n *spec.Path, path, real string) bool {
	return n.Abs == path || n.Abs == real || (n.Real == path || n.Real == real) && !p.r.Planted(n)
}

// inView reports whether private directories leave a path visible in the sandbox: it lies outside
// all of them, or under a path that the spec names, which is bound into them.
func (p *prober) inView(path string) bool {
	if !p.r.Private {
		return true
	}
	private := false
	for _, row := range defaults.PrivateDirs() {
		private = private || within(path, row.Path)
	}
	if !private && !within(path, "/var/run") {
		return true
	}
	for _, list := range [...][]spec.Path{p.r.Read, p.r.Write} {
		for i := range list {
			if within(path, list[i].Real) || within(path, list[i].Abs) {
				return true
			}
		}
	}
	for i := range p.r.Mounts {
		if p.r.Mounts[i].Source.Real != "" && within(path, p.r.Mounts[i].Source.Real) {
			return true
		}
	}
	return within(path, p.r.WorkingDir.Real)
}
