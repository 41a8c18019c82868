package wrap

import "slices"

// Renewal is a mount that falls off inside when the host renames something over
// what it lies on, or removes that (rename(2) and unlink(2) refuse it only to
// the mount's own namespace). It is to be mounted again then.
type Renewal struct {
	Path  string // of the host
	Mount Mount  // OpPin, OpBind of Target onto itself, or OpPlace; Target is as it is called inside
}

// strength orders what is mounted at one place: a pin is only not to be renamed, a
// read-only bind is not to be written, a mask shows nothing.
var strength = []Op{OpPin, OpBind, OpPlace}

// renew has a mount that shows path of the host renewed.
func (b *layers) renew(path string, m Mount) {
	// Where something is mounted already nothing is mounted again, so of several mounts at
	// one place the strongest is the one to be renewed.
	i, has := b.renews[m.Target]
	switch {
	case !has:
		b.renews[m.Target] = len(b.plan.Watch.Renew)
		b.plan.Watch.Renew = append(b.plan.Watch.Renew, Renewal{path, m})
	case slices.Index(strength, m.Op) > slices.Index(strength, b.plan.Watch.Renew[i].Mount.Op):
		b.plan.Watch.Renew[i] = Renewal{path, m}
	}
}

// Renewed are the host's paths that are looked after, each once.
func (w *Watch) Renewed() []string {
	paths := make([]string, 0, len(w.Renew))
	have := make(map[string]bool, len(w.Renew))
	for i := range w.Renew {
		if p := w.Renew[i].Path; !have[p] {
			have[p] = true
			paths = append(paths, p)
		}
	}
	return paths
}
