package wrap

import (
	"slices"

	"sbx/spec"
)

// maskSecrets lays the empty folder or file over what is hidden and has no
// name to hide: secret folders, sockets, removable media, and files in trees
// that stay themselves because they are writable.
func (b *builder) maskSecrets() {
	for _, s := range b.h.Secrets {
		if !b.visible(s.Real) || slices.Contains(b.opened, s.Real) {
			continue
		}
		switch {
		case s.Kind == Dir:
			b.mask(s.Real, Dir, FieldSecrets)
		case s.Kind == Absent: // a link that leads nowhere
		case s.Kind == Other:
			if b.inWritable(parent(s.Path)) {
				b.fault(FieldSecrets, Degraded, s.Path+" is a link in a writable folder to more than can be hidden")
			}
		case b.inWritable(parent(s.Path)):
			b.mask(s.Real, File, FieldSecrets)
			b.plan.Watch.Masked = append(b.plan.Watch.Masked, s.Real)
			b.fault(FieldSecrets, Degraded, s.Path+" lies in a writable folder: it is masked, and shows again when the host replaces it")
		}
	}
	for _, s := range b.h.Sockets {
		if b.visible(s.Real) && !b.names(s.Real) {
			b.mask(s.Real, File, "network")
		}
	}
	for _, m := range b.h.Removable {
		if b.visible(m) && !b.names(m) {
			b.mask(m, Dir, FieldSecrets)
		}
	}
}

// names tells whether the spec's filesystem.write names path itself.
func (b *builder) names(path string) bool {
	for _, w := range b.r.Write {
		if w.Real == path && w.Field != "" {
			return true
		}
	}
	return false
}

func (b *builder) mask(path string, k Kind, f spec.Field) {
	slot := slotNone
	if k == Dir {
		slot = slotEmpty
	}
	b.masked = append(b.masked, path)
	b.op(Mount{Op: OpPlace, Slot: slot, Target: b.in(path), Mode: ModeRO, Soft: true, For: f})
}

// hide carries out filesystem.hide, but for the files whose names are hidden.
func (b *builder) hide() {
	for _, p := range b.r.Hide {
		switch {
		case !p.Exists || !b.visible(p.Real):
		case p.IsDir:
			b.mask(p.Real, Dir, "filesystem.hide")
		case b.inWritable(parent(p.Real)):
			b.mask(p.Real, File, "filesystem.hide")
			b.plan.Watch.Masked = append(b.plan.Watch.Masked, p.Real)
		}
	}
}

// visible tells whether the host's file at path can be seen inside, as the
// Plan stands so far.
func (b *builder) visible(path string) bool {
	for _, m := range b.masked {
		if under(path, m) {
			return false
		}
	}
	for _, w := range b.writables() {
		if under(path, w.Real) {
			return true
		}
	}
	for i := range b.r.Mounts {
		if t := b.r.Mounts[i].Target; under(path, t) {
			return false
		}
	}
	if b.covered(path) {
		return false
	}
	return b.prefix == "" || b.shownAt(path)
}
