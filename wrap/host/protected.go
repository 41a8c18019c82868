package host

import (
	"slices"
	"strings"

	"sbx/wrap"
	"sbx/wrap/defaults"
)

// protection holds the paths to protect in the writable trees, as far as a search has found them.
type protection struct {
	trees  []string // writable directories, none under another
	inner  []string // trees inside one of trees, see addInnerTree
	opened []string // protected paths that the spec makes writable
	globs  []string // names that the spec makes writable at any depth
	items  []wrap.Protected
	unmade []wrap.Protected
}

// tree returns the writable tree under which path lies; "" for none.
func (g *protection) tree(path string) string {
	for _, t := range g.trees {
		if beneath(path, t) {
			return t
		}
	}
	return ""
}

// addTree makes dir a writable tree. If one of two trees contains the other, only the outer
// one is kept.
func (g *protection) addTree(dir string) {
	if anyWithin(dir, g.trees) {
		return
	}
	g.trees = slices.DeleteFunc(g.trees, func(t string) bool { return within(t, dir) })
	g.trees = append(g.trees, dir)
}

// addInnerTree makes dir a tree: an agent's own directory, the working directory or a
// mount. If it lies in another tree or contains one, both stay trees: protected names count
// from the top of each.
func (g *protection) addInnerTree(dir string) {
	switch {
	case slices.Contains(g.trees, dir) || slices.Contains(g.inner, dir):
	case anyWithin(dir, g.trees):
		g.inner = append(g.inner, dir)
	default:
		for _, t := range g.trees {
			if within(t, dir) {
				g.inner = append(g.inner, t)
			}
		}
		g.addTree(dir)
	}
}

// add protects path, which is reached through no symlink but may be one. It ignores a path
// in no writable tree, and a path that the spec makes writable.
func (g *protection) add(path string, kind wrap.Kind, why string) {
	if g.tree(path) == "" || g.isOpened(path) || slices.Contains(g.inner, path) {
		return
	}
	p := wrap.Protected{Path: path, Kind: kind, Why: why, Link: kind == wrap.Symlink}
	if kind == wrap.Absent {
		// A spec that makes a missing directory writable makes all paths in it writable.
		if !slices.ContainsFunc(g.opened, func(o string) bool { return within(path, o) && kindAt(o) == wrap.Absent }) {
			g.unmade = append(g.unmade, p)
		}
	} else {
		g.items = append(g.items, p)
	}
}

// isOpened reports whether the spec makes a protected path writable: it names the path, a
// protected name above it, or a name for any depth that is part of the path.
func (g *protection) isOpened(path string) bool {
	for _, o := range g.opened {
		if path == o || within(path, o) && g.isProtectedName(o) {
			return true
		}
	}
	return slices.ContainsFunc(g.globs, func(name string) bool { return strings.Contains(path+"/", "/"+name+"/") })
}

func (g *protection) isProtectedName(path string) bool {
	tree := g.tree(path)
	for _, t := range g.inner {
		if beneath(path, t) && len(t) > len(tree) {
			tree = t
		}
	}
	if tree == "" {
		return false
	}
	_, ok := defaults.IsProtectedName(relative(path, tree))
	return ok
}

// protectedRows returns the protected paths, sorted so that a directory precedes its
// contents. Each path appears once; paths inside a protected directory are left out. The
// directories between a tree's top and a protected path are added as Shared.
func (g *protection) protectedRows() []wrap.Protected {
	rows := sortedUnique(g.items)
	n := 0
	for _, r := range rows {
		// The order is by bytes, so "a.b" comes between "a" and "a/b".
		covered := slices.ContainsFunc(rows[:n], func(o wrap.Protected) bool {
			return !o.Link && o.Kind == wrap.Dir && beneath(r.Path, o.Path)
		})
		if !covered {
			rows[n] = r
			n++
		}
	}
	rows = rows[:n]
	for i := range rows[:n] {
		tree := g.tree(rows[i].Path)
		for dir := parent(rows[i].Path); beneath(dir, tree); dir = parent(dir) {
			rows = append(rows, wrap.Protected{Path: dir, Kind: wrap.Dir, Shared: true, Why: "on the way to " + base(rows[i].Path)})
		}
	}
	return sortedUnique(rows)
}

// unmadeRows returns the paths that must not be created, except those in a protected
// directory, where nothing can be created.
func (g *protection) unmadeRows(rows []wrap.Protected) []wrap.Protected {
	return slices.DeleteFunc(sortedUnique(g.unmade), func(u wrap.Protected) bool {
		return slices.ContainsFunc(rows, func(o wrap.Protected) bool {
			return !o.Shared && !o.Link && o.Kind == wrap.Dir && beneath(u.Path, o.Path)
		})
	})
}

// sortedUnique sorts rows by path and keeps one for each path: a protected path rather than
// one that is only Shared.
func sortedUnique(rows []wrap.Protected) []wrap.Protected {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b wrap.Protected) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 || a.Shared == b.Shared {
			return c
		}
		if a.Shared {
			return 1
		}
		return -1
	})
	return slices.CompactFunc(rows, func(a, b wrap.Protected) bool { return a.Path == b.Path })
}
