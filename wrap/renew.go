package wrap

// Renewal is a mount that falls off inside when the host renames something over
// what it lies on, or removes that (rename(2) and unlink(2) refuse it only to
// the mount's own namespace). It is to be mounted again then.
type Renewal struct {
	Path  string // of the host
	Mount Mount  // OpPin, OpBind of Target onto itself, or OpPlace; Target is as it is called inside
}

// keep writes a mount at a path inside that shows path of the host, and has it
// renewed.
func (b *mounter) keep(path, at string, m Mount) {
	m.Target = b.in(at)
	if m.Op == OpBind {
		m.Source = m.Target
	}
	b.op(m)
	m.Target = at
	if m.Op == OpBind {
		m.Source = at
	}
	for i := range b.plan.Watch.Renew {
		// Where something is mounted already nothing is mounted again, so of
		// several mounts at one place the strongest is the one to be renewed.
		if r := &b.plan.Watch.Renew[i]; r.Mount.Target == at {
			if strength(m.Op) > strength(r.Mount.Op) {
				*r = Renewal{path, m}
			}
			return
		}
	}
	b.plan.Watch.Renew = append(b.plan.Watch.Renew, Renewal{path, m})
}

// strength orders what is mounted at one place: a mask shows nothing, a
// read-only bind is not to be written, a pin is only not to be renamed.
func strength(o Op) int {
	switch o {
	case OpPlace:
		return 2
	case OpBind:
		return 1
	}
	return 0
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
