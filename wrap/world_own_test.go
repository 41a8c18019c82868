package wrap

import (
	"slices"
	"strings"

	"sbx/spec"
)

// homeLayer looks at an agent's home as Probe does.
func (w *world) homeLayer(h *Host, r *spec.Resolved) {
	if !r.HomeLayer {
		return
	}
	real, err := spec.Real(r.Home, w)
	if err != nil || w.nodes[real].kind != Dir {
		return
	}
	h.HomeReal, h.HomeMode = real, 0o755
	for i := range r.Own {
		if o := &r.Own[i]; o.Mode == spec.OwnRead && o.Exists && !o.IsDir {
			w.look(h, o.Real)
		}
	}
	if h.Overlay.State == No || h.Layer.State == No {
		w.listAll(h, real)
	}
}

// locked protects what of an agent's own is locked and lies in what is written.
func (w *world) locked(h *Host, r *spec.Resolved) {
	tree := func(p string) (top string) {
		for _, t := range r.Write {
			if t.Exists && t.IsDir && p != t.Real && under(p, t.Real) && (top == "" || len(t.Real) < len(top)) {
				top = t.Real
			}
		}
		return top
	}
	for i := range r.Own {
		o := &r.Own[i]
		top := tree(o.Real)
		if o.Mode != spec.OwnLocked || top == "" {
			continue
		}
		p := Protected{Path: o.Real, Kind: w.nodes[o.Real].kind, Why: "an agent on the host runs what it says"}
		if p.Kind == Absent {
			h.Unmade = append(h.Unmade, p)
			continue
		}
		h.Protected = append(h.Protected, p)
		for dir := parent(o.Real); dir != top; dir = parent(dir) {
			h.Protected = append(h.Protected, Protected{Path: dir, Kind: Dir, Shared: true, Why: "on the way"})
		}
	}
	slices.SortStableFunc(h.Protected, func(a, b Protected) int { return strings.Compare(a.Path, b.Path) })
	h.Protected = slices.CompactFunc(h.Protected, func(a, b Protected) bool { return a.Path == b.Path })
}
