package wrap

import (
	"slices"
	"strings"

	"sbx/internal/view"
	"sbx/spec"
)

// places knows what the layers so far show at a path inside, and which layers may still be laid
// there.
type places struct {
	*draft
	view     view.Tree
	prefix   string         // where the new root is put together; "" in place
	whole    bool           // the new root has everything that the host's has
	binds    []spec.MountAt // the mounts of the spec, of a job and of a workshop
	private  []string       // directories that are private, by their path inside
	writable []spec.Path    // writable binds, a directory before its contents
	opened   []string       // secret directories in which something is opened
	named    []string       // protected names that the spec writes by name, and so opens
	namings  [][2]string    // links of a workshop's tree: the virtual path and the own
	unplaced []string       // paths of the tree that have no virtual path, and why
}

// in returns where a path of the new tree lies while the tree is put together.
func (b *places) in(path string) string {
	if b.prefix != "" && path == "/" {
		return b.prefix
	}
	return b.prefix + path
}

// inView reports whether path is to be seen in an empty root because it, or a
// directory above it, was named.
func (b *places) inView(path string) bool {
	if b.whole {
		return true
	}
	for _, l := range [][]spec.Path{b.r.Read, b.r.Write} {
		for _, p := range l {
			if p.Exists && under(path, p.Real) {
				return true
			}
		}
	}
	return b.r.Restricted.Real != "" && under(path, b.r.Restricted.Real)
}

// covered reports whether path lies in a directory that the sandbox has its own of.
func (b *places) covered(path string) bool {
	for _, dir := range b.private {
		if under(path, dir) {
			return true
		}
	}
	return under(path, "/proc") || b.ownDev(path)
}

// coveredStrictly reports whether path lies under a private directory, itself not
// counted.
func (b *places) coveredStrictly(path string) bool {
	for _, dir := range b.private {
		if path != dir && under(path, dir) {
			return true
		}
	}
	return path != "/dev" && b.ownDev(path)
}

// opens reports whether the spec names something under dir, or mounts something
// there.
func (b *places) opens(dir string) bool {
	if b.onTop(dir) < 0 && slices.ContainsFunc(b.binds, func(m spec.MountAt) bool { return under(m.Target, dir) }) {
		return true
	}
	for _, l := range [][]spec.Path{b.r.Read, b.r.Write, b.outside()} {
		for _, p := range l {
			if p.Exists && p.Real != dir && under(p.Real, dir) && !b.planted(p) {
				return true
			}
		}
	}
	return false
}

// isHidden reports whether filesystem.hide names path or a directory above it.
func (b *places) isHidden(path string) bool {
	return slices.ContainsFunc(b.r.Hide, func(h spec.Path) bool { return under(path, h.Real) })
}

// isWritable reports whether path lies in a writable tree that is known so far.
func (b *places) isWritable(path string) bool {
	return slices.ContainsFunc(b.writable, func(w spec.Path) bool { return under(path, w.Real) })
}

// writables are the paths that are bound in writable, a directory before what is
// in it, one that lies in another left out.
func (b *places) writables() []spec.Path {
	if b.writable != nil || !b.restricted() {
		return b.writable
	}
	all := []spec.Path{}
	for _, w := range b.r.Write {
		if w.Exists && !b.isHidden(w.Real) {
			all = append(all, w)
		}
	}
	all = append(all, b.outside()...)
	slices.SortStableFunc(all, func(x, y spec.Path) int {
		switch {
		case x.Real < y.Real:
			return -1
		case x.Real > y.Real:
			return 1
		}
		return 0
	})
	b.writable = []spec.Path{}
	for _, w := range all {
		if !b.isWritable(w.Real) {
			b.writable = append(b.writable, w)
		}
	}
	return b.writable
}

// outside are the common directories of linked worktrees, which git inside has to write.
func (b *places) outside() (common []spec.Path) {
	for i := range b.h.Repositories {
		if repo := &b.h.Repositories[i]; repo.Outside && !b.r.ReadOnly {
			common = append(common, spec.Path{Abs: repo.Common, Real: repo.Common, Exists: true, IsDir: true})
		}
	}
	return common
}

// hideable reports whether names can be hidden in dir: it is in view as a whole,
// and neither private nor writable.
func (b *places) hideable(dir string) bool {
	if b.inWritable(dir) || b.isHidden(dir) || b.onTop(dir) >= 0 {
		return false
	}
	if b.prefix != "" {
		return b.view.At(dir).Source != ""
	}
	return !b.covered(dir)
}

// makeable reports whether dir can be covered by one with further names: where it
// is the host's own to write, only one that is put together anew from binds
// loses nothing that is written there.
func (b *places) makeable(dir string) bool {
	if b.restricted() {
		return !b.inWritable(dir)
	}
	return b.h.listing(dir) != nil && !under(dir, "/dev") // shared memory is bound in as it was
}

// inWritable reports whether path lies in a tree that is writable inside.
func (b *places) inWritable(path string) bool {
	if !b.restricted() {
		return true
	}
	b.writables()
	return b.isWritable(path)
}

// lacking parts a mount's target that the host does not have into the nearest
// directory that is there and the rest; rest is "" where nothing is to be made.
func (b *places) lacking(target string) (dir, rest string) {
	if b.r.Visible && !b.inView(target) && b.view.At(target).Source == "" || b.covered(target) || b.h.Kind(target) != Absent ||
		slices.ContainsFunc(b.opened, func(dir string) bool { return under(target, dir) }) {
		return "", ""
	}
	dir = parent(target)
	for dir != "/" && b.h.Kind(dir) == Absent {
		dir = parent(dir)
	}
	if dir == "/" {
		return dir, target
	}
	return dir, target[len(dir):]
}

// listing is what Probe found in dir, or nil.
func (h *Host) listing(dir string) *Listing {
	for i := range h.Listing {
		if h.Listing[i].Dir == dir {
			return &h.Listing[i]
		}
	}
	return nil
}

// allowed reports whether the spec writes a protected path.
func (b *places) allowed(path string) bool {
	return opensName(b.named, path) || opensName(b.r.Globs, path)
}

// seen reports whether a directory or file of the host can be seen at its own path
// in the finished sandbox.
func (b *places) seen(path string) bool {
	g := b.view.At(path)
	return g.Access >= view.Read && (g.Source == path || b.onTop(path) >= 0) // what is bound there is the spec's own choice
}

// names reports whether the spec writes path itself by name.
func (b *places) names(path string) bool {
	return slices.ContainsFunc(b.r.Write, func(w spec.Path) bool { return w.Real == path && w.Field != "" })
}

// mayChange reports whether what stands at a path inside can be another than the
// host has there, be it in the home's layer alone.
func (b *places) mayChange(image string) bool {
	g := b.view.At(image)
	return g.Access == view.Write && g.Source != ""
}

// writableImages are the paths inside at which a path of the host shows and
// could be written or renamed. The top of a writable tree itself cannot.
func (b *places) writableImages(path string) []string {
	var at []string
	for _, image := range b.images(path) {
		if reaches(b.view.At(image)) && (image != path || b.inWritable(parent(path)) || b.onTop(path) >= 0) {
			at = append(at, image)
		}
	}
	return at
}

// imagesOf are the paths inside of a file or directory that commands names.
func (b *places) imagesOf(real string) []string {
	if b.plan.Base == BaseHost || b.r.Job != nil && under(real, "/work") {
		return []string{real}
	}
	return b.allImages(real)
}

// opensName reports whether a list of what may be written names a protected path, or a
// protected name above it. Naming a directory that merely contains protected names opens
// none of them.
func opensName(names []string, path string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		deep, any := strings.CutPrefix(name, "**/")
		return any && strings.Contains(path+"/", "/"+deep+"/") || !any && under(path, name)
	})
}
