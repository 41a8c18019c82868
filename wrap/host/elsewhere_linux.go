package host

import (
	"slices"

	"sbx/wrap"
)

// maxElsewhere bounds the further paths of hidden files.
const maxElsewhere = 64

// hideElsewhere hides each hidden path again wherever another mount of the
// host shows it: the disk from which homes are bound, the top of a file system next to its
// subvolumes, a directory of a home that is bound elsewhere, or an overlay over one.
func (p *secretSearch) hideElsewhere() {
	if len(p.entries) == 0 {
		return
	}
	found := append(p.h.Secrets[:len(p.h.Secrets):len(p.h.Secrets)], p.outOfView...)
	for i := range p.r.Hide {
		if h := &p.r.Hide[i]; h.Exists {
			found = append(found, wrap.Found{Path: h.Real, Real: h.Real, Kind: kindAt(h.Real), Why: "filesystem.hide"})
		}
	}
	left := maxElsewhere
	overlays := p.overlays()
	for i := 0; i < len(found); i++ {
		f := found[i]
		if f.Target != "" || f.Kind != wrap.Dir && f.Kind != wrap.File && f.Kind != wrap.Socket {
			continue
		}
		for _, path := range append(p.otherPaths(f.Path), p.throughOverlays(f.Path, overlays)...) {
			if slices.ContainsFunc(found, func(o wrap.Found) bool { return o.Path == path }) {
				continue
			}
			if !f.Home {
				left--
			}
			if left < 0 {
				p.h.SecretsCut = "more than " + itoa(maxElsewhere) + " are seen by a second mount: the others were left"
				return
			}
			shown := wrap.Found{Path: path, Real: path, Kind: kindAt(path), Why: f.Why + " (" + f.Path + ", seen once more)", Home: f.Home}
			p.hide(shown)
			shown.Why = f.Why
			found = append(found, shown)
		}
	}
}
