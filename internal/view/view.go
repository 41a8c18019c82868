package view

import (
	"slices"
)

// Access is what a command may do at a path, from least to most: a higher value
// includes the lower ones.
type Access uint8

// The accesses.
const (
	Absent Access = iota // not in view
	Hidden               // exists on the host, but the command cannot read it
	Read
	Write
)

// String returns the access in one word, as `sbx check` prints it.
func (a Access) String() string {
	return [...]string{"absent", "hidden", "read-only", "writable"}[a]
}

// Cause names the spec field or default that decided a grant.
type Cause struct {
	Field string // of the document, or of a default's line: "filesystem.write[0]", "secrets"
	Why   string // the reason given in the row of a table of defaults; may be ""
}

// Grant describes one path of the sandbox: what the command may do there and why.
type Grant struct {
	Access Access
	// Source is the host path visible there; "" if nothing is, or if the content is the
	// sandbox's own and is removed with it.
	Source string
	// Copied is true if writes go to a copy and do not reach Source.
	Copied bool
	File   bool // the path at which the Grant begins is not a directory
	// Protected is true if the path is read-only only because its name is protected.
	Protected bool
	Because   Cause
}

// Layer changes a Tree at Path and everything under it.
type Layer struct {
	Path string
	Kind Kind
	Grant
}

// Kind says what a Layer does to the layers under it.
type Kind uint8

// The kinds.
const (
	Show  Kind = iota // replaces all layers under it with the Grant; subpaths show those of Source
	Close             // makes writable paths read-only; leaves all others as they are
)

// Tree holds the Grant of every path inside the sandbox. The zero value is an empty root.
type Tree struct {
	places []place // sorted by path (see order)
	names  []Names
	// sources are the places sorted by Source, so that none has to be searched among all. Some
	// may be gone, or changed by a later layer.
	sources []source
}

// place is a path at which a Grant begins.
type place struct {
	path string
	Grant
}

// Names protects names at any depth of the host directory Top, wherever it is mounted.
type Names struct {
	Top string
	// Because reports whether rel, a path relative to Top, is protected, and why.
	Because func(rel string) (Cause, bool)
}

// With returns t with layer l on top. It reuses t's memory, so t must not be used afterwards.
func (t Tree) With(l Layer) Tree {
	first, last := t.span(l.Path)
	if l.Kind == Show {
		t.places = slices.Replace(t.places, first, last, place{l.Path, l.Grant})
		return t.withSource(l.Source, l.Path)
	}
	close := func(g Grant) Grant {
		if g.Access == Write {
			g.Access, g.Protected, g.Because = Read, l.Protected, l.Because
		}
		return g
	}
	for i := first; i < last; i++ {
		t.places[i].Grant = close(t.places[i].Grant)
	}
	if first < len(t.places) && t.places[first].path == l.Path {
		return t
	}
	if g := t.at(l.Path); g != close(g) {
		t.places = slices.Insert(t.places, first, place{l.Path, close(g)})
		return t.withSource(g.Source, l.Path)
	}
	return t
}

// Meet returns the intersection of two Trees: at each path the lower of the two accesses.
func (t Tree) Meet(o Tree) Tree {
	met := New(len(t.places) + len(o.places))
	met.names = slices.Concat(t.names, o.names)
	paths := append(t.Places(), o.Places()...)
	slices.SortFunc(paths, order)
	for _, path := range slices.Compact(paths) {
		g, other := t.at(path), o.at(path)
		if other.Access < g.Access {
			g = other
		}
		met = met.With(Layer{Path: path, Grant: g})
	}
	return met
}

// New returns an empty Tree with capacity for n places.
func New(n int) Tree { return Tree{places: make([]place, 0, n), sources: make([]source, 0, n)} }

// WithNames returns t with further names that are protected at any depth.
func (t Tree) WithNames(n Names) Tree {
	t.names = append(t.names, n)
	return t
}

// order compares paths so that a directory comes first, directly followed by everything
// under it.
func order(a, b string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		switch {
		case a[i] == b[i]:
		case a[i] == '/':
			return -1
		case b[i] == '/':
			return 1
		case a[i] < b[i]:
			return -1
		default:
			return 1
		}
	}
	return len(a) - len(b)
}

// span returns the index range [first, last) of the places at and under path.
func (t *Tree) span(path string) (first, last int) {
	if path == "/" {
		return 0, len(t.places)
	}
	first, _ = t.search(path)
	for last = first; last < len(t.places) && Within(t.places[last].path, path); last++ {
	}
	return first, last
}

// At returns the Grant for path, which is absolute and clean and has no symlinks except
// possibly its last component.
func (t Tree) At(path string) Grant {
	g := t.at(path)
	if g.Access != Write || g.Source == "" || g.Copied {
		return g
	}
	for _, n := range t.names {
		if rel, _ := Relative(g.Source, n.Top); rel != "" {
			if why, ok := n.Because(rel); ok {
				g.Access, g.Protected, g.Because = Read, true, why
				return g
			}
		}
	}
	return g
}

// at is At without the protected names.
func (t *Tree) at(path string) Grant {
	if p := t.holding(path); p != nil {
		return p.under(path)
	}
	return Grant{}
}

// holding returns the nearest place at or above path, or nil.
func (t *Tree) holding(path string) *place {
	for {
		i, ok := t.search(path)
		switch {
		case ok:
			return &t.places[i]
		case i == 0 || path == "/":
			return nil
		case Within(path, t.places[i-1].path):
			return &t.places[i-1]
		}
		path = Parent(path)
	}
}

// search returns the index of path in places, or the index at which to insert it and false.
func (t *Tree) search(path string) (int, bool) {
	low, high := 0, len(t.places)
	for low < high {
		mid := int(uint(low+high) / 2)
		switch c := order(t.places[mid].path, path); {
		case c == 0:
			return mid, true
		case c < 0:
			low = mid + 1
		default:
			high = mid
		}
	}
	return low, false
}

// under returns the grant of place p for path, which is p's path or lies under it.
func (p *place) under(path string) Grant {
	g := p.Grant
	switch {
	case path == p.path:
	case g.Source != "":
		rel, _ := Relative(path, p.path)
		g.Source = Join(g.Source, rel)
	case g.Access == Hidden: // an empty directory covers it: nothing is beneath
		g.Access = Absent
	}
	return g
}

// shows reports whether g makes the host path visible.
func (g Grant) shows(host string) bool { return host != "" && g.Access >= Read && g.Source == host }

// Places returns the paths at which a Grant begins, a directory before its contents.
func (t Tree) Places() []string {
	paths := make([]string, len(t.places))
	for i := range t.places {
		paths[i] = t.places[i].path
	}
	return paths
}
