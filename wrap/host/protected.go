package host

import (
	"slices"
	"strings"

	"sbx/wrap"
)

// guarded is what a search found to protect in some writable trees.
type protection struct {
	trees  []string // writable directories, none beneath another
	inner  []string // those that lie in one and are trees all the same, see addOwn
	opened []string // protected names that the spec writes
	globs  []string // names that the spec writes at any depth
	items  []wrap.Protected
	unmade []wrap.Protected
}

// tree is the writable tree that path lies beneath; "" for none.
func (g *protection) tree(path string) string {
	for _, t := range g.trees {
		if beneath(path, t) {
			return t
		}
	}
	return ""
}

// addTree makes dir a writable tree, and of two that lie in each other the
// outer one.
func (g *protection) addTree(dir string) {
	if anyWithin(dir, g.trees) {
		return
	}
	g.trees = slices.DeleteFunc(g.trees, func(t string) bool { return within(t, dir) })
	g.trees = append(g.trees, dir)
}

// addOwn makes a directory a tree that is an agent's own, the working directory or
// what a mount shows. One that lies in another tree, or in which another lies,
// leaves both what they are: protected names count from the top of each.
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

// add protects path, which has no link on the way but may be one itself.
// What lies in no writable tree needs no protection; what the spec writes gets
// none.
func (g *protection) add(path string, kind wrap.Kind, why string) {
	if g.tree(path) == "" || g.isOpened(path) || slices.Contains(g.inner, path) {
		return
	}
	p := wrap.Protected{Path: path, Kind: kind, Why: why, Link: kind == wrap.Symlink}
	if kind == wrap.Absent {
		// Who writes a directory on the way that is missing, too, writes what comes of it.
		if !slices.ContainsFunc(g.opened, func(o string) bool { return within(path, o) && kindAt(o) == wrap.Absent }) {
			g.unmade = append(g.unmade, p)
		}
	} else {
		g.items = append(g.items, p)
	}
}

// isOpened tells whether the spec writes a protected path: it names the path,
// or a protected name above it, or a name for any depth that is on the way.
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
	_, ok := wrap.IsProtectedName(relative(path, tree))
	return ok
}

// rows is everything protected in the order of the paths, a directory before what
// is in it: each thing once, nothing that lies in a protected directory, and each
// directory between a tree's top and a protected thing.
func (g *protection) protectedRows() []wrap.Protected {
	rows := sortedUnique(g.items)
	n := 0
	for _, r := range rows {
		// Paths are sorted, but "a.b" stands between "a" and "a/b".
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

// missing is what must not come into being, but for what lies in a protected
// directory, where nothing can.
func (g *protection) unmadeRows(rows []wrap.Protected) []wrap.Protected {
	return slices.DeleteFunc(sortedUnique(g.unmade), func(u wrap.Protected) bool {
		return slices.ContainsFunc(rows, func(o wrap.Protected) bool {
			return !o.Shared && !o.Link && o.Kind == wrap.Dir && beneath(u.Path, o.Path)
		})
	})
}

// once sorts rows by path and leaves one of each, what is protected itself
// before what is only on the way.
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
