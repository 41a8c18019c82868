package view

import "slices"

// Difference is a path at which a child lets more be done than its parent does.
type Difference struct {
	Path   string
	Child  Grant
	Parent Grant // what Of says of Child.Source
}

// Wider lists where child lets more of the host be read or written than parent does,
// asked at the places of both: those of parent wherever child shows what lies there.
func Wider(parent, child Tree) (more []Difference) {
	paths := child.Places()
	for i := range parent.places {
		paths = append(paths, child.Images(parent.places[i].path)...)
	}
	slices.SortFunc(paths, order)
	for _, path := range slices.Compact(paths) {
		g, there := child.At(path), parent.At(path)
		if g.Source == "" || g.Access < Read || there.Source == g.Source && there.Access >= g.Access {
			continue
		}
		if has := parent.Of(g.Source); has.Source != g.Source || has.Access < g.Access {
			more = append(more, Difference{path, g, has})
		}
	}
	return more
}

// Of is the most that may be done with a path of the host: where that lies or, unless
// something else stands there, wherever nothing of it is covered. Where it does not show,
// it is what stands at the path.
func (t *Tree) Of(host string) Grant {
	best := t.At(host)
	if p := t.holding(host); best.Source != host && p != nil && p.Access != Absent {
		return best
	}
	for _, image := range t.Images(host) {
		first, last := t.span(image)
		if last > first && t.places[last-1].path != image {
			continue // something beneath it is another's
		}
		if g := t.At(image); best.Source != host || g.Access > best.Access {
			best = g
		}
	}
	return best
}
