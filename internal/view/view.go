package view

import (
	"cmp"
	"slices"
	"strings"
)

// Access is what may be done at a path. Each includes what is below it.
type Access uint8

// The accesses.
const (
	Absent Access = iota // not in view
	Hidden               // the host has something there; nothing of it can be read
	Read
	Write
)

// String is the access in a word, as `sbx check` prints it.
func (a Access) String() string {
	return [...]string{"absent", "hidden", "read-only", "writable"}[a]
}

// Cause is what decides a grant.
type Cause struct {
	Field string // of the document, or of a default's line: "filesystem.write[0]", "secrets"
	Why   string // the reason of a table's row; may be ""
}

// Grant is what may be done at a path.
type Grant struct {
	Access Access
	// Source is the path of the host that shows there; "" where none does, or what is
	// there is the sandbox's own, and ends with it.
	Source string
	// Copied is true where what is written does not reach Source.
	Copied bool
	File   bool // what stands at the path where the Grant begins is no directory
	// Protected is true where only a rule about names keeps it from being written.
	Protected bool
	Because   Cause
}

// Layer is laid over a Tree at Path and all beneath.
type Layer struct {
	Path string
	Kind Kind
	Grant
}

// Kind is what a Layer does to what is below it.
type Kind uint8

// The kinds.
const (
	Show  Kind = iota // nothing below can be seen any more: the Grant holds, and Source goes on beneath it
	Close             // what could be written may only be read; all else stays
)

// Tree tells of every path inside what may be done there. The zero value is an
// empty root.
type Tree struct {
	places []place // in the order of their paths
	names  []Names
}

// place is a path at which a Grant begins.
type place struct {
	path string
	Grant
}

// Names protects names at any depth of the host's directory Top, wherever that shows.
type Names struct {
	Top string
	// Because tells whether rel, a path relative to Top, is protected.
	Because func(rel string) (Cause, bool)
}

// Within tells whether path is dir or lies beneath it. Both are absolute and clean.
func Within(path, dir string) bool {
	return dir == "/" || path == dir || len(path) > len(dir) && path[len(dir)] == '/' && path[:len(dir)] == dir
}

// Parent is the directory that a path lies in; "/" for "/".
func Parent(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}

// With is t with a layer over it. It changes t's memory: only the result may be used.
func (t Tree) With(l Layer) Tree {
	first, last := t.span(l.Path)
	if l.Kind == Show {
		t.places = slices.Replace(t.places, first, last, place{l.Path, l.Grant})
		return t
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
	}
	return t
}

// Meet is what both Trees let be done: at each path the less of the two.
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

// New is an empty Tree with room for n places.
func New(n int) Tree { return Tree{places: make([]place, 0, n)} }

// WithNames is t with names that are protected at any depth.
func (t Tree) WithNames(n Names) Tree {
	t.names = append(t.names, n)
	return t
}

// order compares paths so that a directory comes before what is in it, and all that
// before everything else.
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

// span is where the places at and beneath path are.
func (t *Tree) span(path string) (first, last int) {
	if path == "/" {
		return 0, len(t.places)
	}
	first, _ = t.search(path)
	for last = first; last < len(t.places) && Within(t.places[last].path, path); last++ {
	}
	return first, last
}

// At is what may be done at path, which is absolute and clean and has no links in
// it but the last.
func (t Tree) At(path string) Grant {
	g := t.at(path)
	if g.Access != Write || g.Source == "" || g.Copied {
		return g
	}
	for _, n := range t.names {
		if Within(g.Source, n.Top) && g.Source != n.Top {
			if why, ok := n.Because(strings.TrimPrefix(g.Source[len(n.Top):], "/")); ok {
				g.Access, g.Protected, g.Because = Read, true, why
				return g
			}
		}
	}
	return g
}

// at is At without the names.
func (t *Tree) at(path string) Grant {
	if p := t.holding(path); p != nil {
		return p.under(path)
	}
	return Grant{}
}

// holding is the place that path is or lies beneath; nil for none.
func (t *Tree) holding(path string) *place {
	i, ok := t.search(path)
	if !ok { // what comes before it and holds it is the nearest above
		for i--; i >= 0 && !Within(path, t.places[i].path); i-- {
		}
	}
	if i < 0 {
		return nil
	}
	return &t.places[i]
}

// search is where path is among the places, or would be.
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

// under is the grant of a place as it holds at path, which lies beneath it.
func (p *place) under(path string) Grant {
	g := p.Grant
	switch {
	case path == p.path:
	case g.Source != "":
		g.Source = strings.TrimSuffix(g.Source, "/") + strings.TrimPrefix(path, strings.TrimSuffix(p.path, "/"))
	case g.Access == Hidden: // an empty directory stands there
		g.Access = Absent
	}
	return g
}

// Images are the paths inside at which a path of the host shows, its own first.
func (t Tree) Images(host string) []string {
	var images []string
	for i := range t.places {
		p := &t.places[i]
		if p.Source == "" || p.Access < Read || !Within(host, p.Source) {
			continue
		}
		image := cmp.Or(strings.TrimSuffix(p.path, "/")+host[len(strings.TrimSuffix(p.Source, "/")):], "/")
		if t.at(image).shows(host) {
			images = append(images, image)
		}
	}
	slices.SortFunc(images, func(a, b string) int {
		switch {
		case a == b:
			return 0
		case a == host:
			return -1
		case b == host:
			return 1
		}
		return cmp.Or(len(a)-len(b), order(a, b))
	})
	return slices.Compact(images)
}

// Parts are the places inside at which a path of the host, or something beneath it,
// begins to show.
func (t Tree) Parts(host string) []string {
	var parts []string
	for i := range t.places {
		if p := &t.places[i]; p.shows(p.Source) && Within(p.Source, host) {
			parts = append(parts, p.path)
		}
	}
	return parts
}

// shows tells whether what is there is a path of the host.
func (g Grant) shows(host string) bool { return host != "" && g.Access >= Read && g.Source == host }

// Places are the paths at which something else begins than above them, a directory
// before what is in it.
func (t Tree) Places() []string {
	paths := make([]string, len(t.places))
	for i := range t.places {
		paths[i] = t.places[i].path
	}
	return paths
}
