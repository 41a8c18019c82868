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
	prefix   string         // where the new root is put together; "" if the host's root stays in place
	whole    bool           // the new root has every entry of the host's root
	binds    []spec.MountAt // the mounts of the spec, of a job and of a workshop
	private  []string       // private directories, by their paths inside
	writable []spec.Path    // writable binds, a directory before its contents
	opened   []string       // secret directories in which something is opened
	named    []string       // protected names that the spec lists as writable, which opens them
	namings  [][2]string    // links in a workshop's tree: the virtual path and the path itself
	unplaced []string       // paths of the tree that have no virtual path, with the reason
}

// in returns where a path of the new tree lies while the tree is put together.
func (b *places) in(path string) string {
	if b.prefix != "" && path == "/" {
		return b.prefix
	}
	return b.prefix + path
}

// inView reports whether path shows in an empty root, because the spec names it or a directory
// above it.
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

// covered reports whether path lies in a directory that is the sandbox's own.
func (b *places) covered(path string) bool {
	for _, dir := range b.private {
		if under(path, dir) {
			return true
		}
	}
	return under(path, "/proc") || b.ownDev(path)
}

// coveredStrictly reports whether path lies under a private directory, and is not that directory
// itself.
func (b *places) coveredStrictly(path string) bool {
	for _, dir := range b.private {
		if path != dir && under(path, dir) {
			return true
		}
	}
	return path != "/dev" && b.ownDev(path)
}

// opens reports whether the spec names a path under dir, or mounts something there.
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

// isWritable reports whether path lies in one of the writable trees known so far.
func (b *places) isWritable(path string) bool {
	return slices.ContainsFunc(b.writable, func(w spec.Path) bool { return under(path, w.Real) })
}

// writables returns the paths to bind writable, sorted, without those that lie in another.
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

// outside returns the common directories of linked worktrees, to which git inside has to write.
func (b *places) outside() (common []spec.Path) {
	for i := range b.h.Repositories {
		if repo := &b.h.Repositories[i]; repo.Outside && !b.r.ReadOnly {
			common = append(common, spec.Path{Abs: repo.Common, Real: repo.Common, Exists: true, IsDir: true})
		}
	}
	return common
}

// hideable reports whether names can be hidden in dir: it is in view as a whole, and neither
// private nor writable.
func (b *places) hideable(dir string) bool {
	if b.inWritable(dir) || b.isHidden(dir) || b.onTop(dir) >= 0 {
		return false
	}
	if b.prefix != "" {
		return b.view.At(dir).Source != ""
	}
	return !b.covered(dir)
}

// makeable reports whether dir can be covered by a directory with additional names. If dir is
// writable on the host, it must be rebuilt from binds, because writes to its entries then still
// reach the host.
func (b *places) makeable(dir string) bool {
	if b.restricted() {
		return !b.inWritable(dir)
	}
	return b.h.listing(dir) != nil && !under(dir, "/dev") // shared memory is bound unchanged
}

// inWritable reports whether path lies in a tree that is writable inside.
func (b *places) inWritable(path string) bool {
	if !b.restricted() {
		return true
	}
	b.writables()
	return b.isWritable(path)
}

// lacking splits a mount's target that the host does not have into the nearest existing directory
// and the rest; rest is "" if nothing must be made.
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

// listing returns the names that Probe found in dir, or nil.
func (h *Host) listing(dir string) *Listing {
	for i := range h.Listing {
		if h.Listing[i].Dir == dir {
			return &h.Listing[i]
		}
	}
	return nil
}

// allowed reports whether the spec lets the command write a protected path.
func (b *places) allowed(path string) bool {
	return opensName(b.named, path) || opensName(b.r.Globs, path)
}

// seen reports whether a file or directory of the host shows at its own path in the finished
// sandbox.
func (b *places) seen(path string) bool {
	g := b.view.At(path)
	return g.Access >= view.Read && (g.Source == path || b.onTop(path) >= 0) // a bind that shows there is the spec's own choice
}

// names reports whether the spec lists path itself as writable.
func (b *places) names(path string) bool {
	return slices.ContainsFunc(b.r.Write, func(w spec.Path) bool { return w.Real == path && w.Field != "" })
}

// mayChange reports whether the command may change the file at a path inside, be it only in the
// home's layer.
func (b *places) mayChange(image string) bool {
	g := b.view.At(image)
	return g.Access == view.Write && g.Source != ""
}

// writableImages returns the paths inside at which a path of the host shows and could be written or
// renamed. The top of a writable tree is not among them, since it cannot be renamed.
func (b *places) writableImages(path string) []string {
	var at []string
	for _, image := range b.images(path) {
		if reaches(b.view.At(image)) && (image != path || b.inWritable(parent(path)) || b.onTop(path) >= 0) {
			at = append(at, image)
		}
	}
	return at
}

// imagesOf returns the paths inside of a file or directory that the field commands names.
func (b *places) imagesOf(real string) []string {
	if b.plan.Base == BaseHost || b.r.Job != nil && under(real, "/work") {
		return []string{real}
	}
	return b.allImages(real)
}

// opensName reports whether a list of writable paths names a protected path, or a protected name
// above it. To name a directory that merely contains protected names opens none of them.
func opensName(names []string, path string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		deep, any := strings.CutPrefix(name, "**/")
		return any && strings.Contains(path+"/", "/"+deep+"/") || !any && under(path, name)
	})
}
