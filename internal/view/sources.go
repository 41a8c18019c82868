package view

import (
	"cmp"
	"slices"
)

// source is a path of the host, and a place that shows or showed it.
type source struct{ host, path string }

// withSource returns t with one more of its sources.
func (t Tree) withSource(host, path string) Tree {
	s := source{host, path}
	if i, has := slices.BinarySearchFunc(t.sources, s, bySource); !has && host != "" {
		t.sources = slices.Insert(t.sources, i, s)
	}
	return t
}

func bySource(a, b source) int {
	if c := order(a.host, b.host); c != 0 {
		return c
	}
	return order(a.path, b.path)
}

// sourcesFrom returns the sources from the first at or beneath a path of the host on.
func (t *Tree) sourcesFrom(host string) []source {
	i, _ := slices.BinarySearchFunc(t.sources, source{host: host}, bySource)
	return t.sources[i:]
}

// Images returns the sandbox paths at which a host path is visible; the same path first,
// if it is one of them.
func (t Tree) Images(host string) []string {
	var images []string
	for above, last := host, false; !last; above = Parent(above) {
		last = above == "/"
		for _, s := range t.sourcesFrom(above) {
			if s.host != above {
				break
			}
			rel, _ := Relative(host, above)
			image := Join(s.path, rel)
			if t.at(image).shows(host) {
				images = append(images, image)
			}
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

// Parts returns the paths of those places whose Source is host or lies beneath it.
func (t Tree) Parts(host string) []string {
	var parts []string
	for _, s := range t.sourcesFrom(host) {
		if !Within(s.host, host) {
			break
		}
		if i, ok := t.search(s.path); ok && t.places[i].shows(s.host) {
			parts = append(parts, s.path)
		}
	}
	slices.SortFunc(parts, order)
	return parts
}
