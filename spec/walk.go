package spec

import (
	"path"
	"strings"

	"sbx/internal/view"
)

// maxLinks is how many links the kernel follows in one path (path_resolution(7)).
const maxLinks = 40

// resolvePath follows the absolute path p as the kernel does: it follows links in all components, ".."
// is the parent of a link's target, and a trailing slash requires a directory. A path that does not
// exist is not an error: Exists is false and Real is the path at which it would be.
func resolvePath(paths Paths, p string) (Path, error) {
	w := walker{paths: paths, real: "/", abs: "/", isDir: true}
	w.push(p, true)
	for len(w.todo) > 0 {
		part := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		if err := w.step(part); err != nil {
			return Path{Abs: clean(p), Real: clean(p), Links: w.links}, err
		}
	}
	return Path{Abs: w.abs, Real: w.real, Links: w.links, Exists: !w.missing, IsDir: !w.missing && w.isDir}, nil
}

// walkPart is a component that is still to be resolved.
type walkPart struct {
	name      string
	asked     bool // it belongs to the path itself, not to a link's target
	mustBeDir bool // it must be a directory, since another component follows
}

// walker is the state of resolvePath.
type walker struct {
	paths Paths
	todo  []walkPart // the next one last
	links []Link

	real    string // with links resolved
	isDir   bool   // real is a directory
	missing bool   // real does not exist
	abs     string // the requested path with its links unresolved
	// linked says for each component of abs whether it is a link: ".." after a link does not
	// just remove it from the text.
	linked []bool
}

// push puts the components of p before those that are still to be resolved.
func (w *walker) push(p string, asked bool) {
	more := len(w.todo) > 0
	parts := strings.Split(p, "/")
	for i := len(parts) - 1; i >= 0; i-- {
		switch name := parts[i]; name {
		case "", ".":
			more = more || i > 0 // "a/" and "a/." require a directory
		default:
			w.todo = append(w.todo, walkPart{name: name, asked: asked, mustBeDir: more})
			more = true
		}
	}
}

func (w *walker) step(part walkPart) error {
	if part.name == ".." {
		return w.up(part.asked)
	}
	at := joinPath(w.real, part.name)
	if part.asked {
		w.abs = joinPath(w.abs, part.name)
		w.linked = append(w.linked, false)
	}
	if w.missing {
		w.real = at
		return nil
	}
	info, err := w.paths.Lstat(at)
	switch {
	case err == NoEntry:
		w.real, w.missing, w.isDir = at, true, false
		return nil
	case err != nil:
		return err
	case info.IsLink:
		return w.follow(at, part)
	case part.mustBeDir && !info.IsDir:
		return NotDirectory
	}
	w.real, w.isDir = at, info.IsDir
	return nil
}

// up goes to the parent directory. As for the kernel, "missing/.." does not exist.
func (w *walker) up(asked bool) error {
	if w.missing {
		return NoEntry
	}
	w.real, w.isDir = parent(w.real), true
	if !asked || len(w.linked) == 0 {
		return nil
	}
	last := len(w.linked) - 1
	if !w.linked[last] {
		w.abs, w.linked = parent(w.abs), w.linked[:last]
		return nil
	}
	w.abs = w.real
	w.linked = w.linked[:0]
	for i := 1; i < len(w.real); i++ {
		if w.real[i] == '/' || i == 1 {
			w.linked = append(w.linked, false)
		}
	}
	return nil
}

func (w *walker) follow(at string, part walkPart) error {
	if len(w.links) == maxLinks {
		return TooManyLinks
	}
	target, err := w.paths.Readlink(at)
	if err != nil {
		return err
	}
	if target == "" { // symlink(2) cannot create an empty link, but some file systems contain one
		return NoEntry
	}
	w.links = append(w.links, Link{Path: at, Target: target})
	if part.asked {
		w.linked[len(w.linked)-1] = true
	}
	if target[0] == '/' {
		w.real, w.isDir = "/", true
	}
	if part.mustBeDir && len(w.todo) == 0 {
		target += "/" // the link's target must be a directory too
	}
	w.push(target, false)
	return nil
}

func joinPath(dir, name string) string {
	dir = strings.TrimRight(dir, "/")
	for strings.HasPrefix(name, "./") {
		name = name[2:]
	}
	if name == "." && dir != "" {
		return dir
	}
	return dir + "/" + name
}

func parent(path string) string   { return view.Parent(path) }
func under(path, dir string) bool { return view.Within(path, dir) }
func clean(p string) string       { return path.Clean(p) }
