package view

import "slices"

// Difference is a path at which the child grants more than its parent.
type Difference struct {
	Path   string
	Child  Grant
	Parent Grant // the parent's Of(Child.Source)
}

// Wider lists the paths at which child can read or write more of the host than parent can.
// It compares the two at child's places and wherever child shows a path of parent's places.
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

// Of returns the widest Grant for a host path: at the same path inside or, unless something
// else is mounted there, at any other image of it that no place covers in part. If the host
// path is not visible, Of returns the Grant at that path.
func (t *Tree) Of(host string) Grant {
	best := t.At(host)
	if p := t.holding(host); best.Source != host && p != nil && p.Access != Absent {
		return best
	}
	for _, image := range t.Images(host) {
		first, last := t.span(image)
		if last > first && t.places[last-1].path != image {
			continue // another place begins under the image
		}
		if g := t.At(image); best.Source != host || g.Access > best.Access {
			best = g
		}
	}
	return best
}
