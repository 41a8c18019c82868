package wrap

import "slices"

// Renewal is a mount that is lost inside when the host renames a file over the path below it, or
// removes that path: rename(2) and unlink(2) refuse that only within the mount's own namespace. The
// supervisor then mounts it again.
type Renewal struct {
	Path  string // of the host
	Mount Mount  // OpPin, OpBind of Target onto itself, or OpPlace; Target is its path inside
}

// strength orders the kinds of mounts at one place: a pin only prevents renaming, a read-only bind
// also prevents writing, and a mask also hides the content.
var strength = []Op{OpPin, OpBind, OpPlace}

// renew registers a mount that shows path of the host for renewal.
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

// Renewed returns the host's paths that the supervisor watches for that, each once.
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
