package wrap

import (
	"slices"

	"sbx/spec"
)

// gather lists what is bound at a path of its own: the spec's mounts, the two
// folders of a job, and a workshop's tree at its virtual path. A mount beneath
// another's target comes after it, in whatever order the spec has them.
func (b *builder) gather() {
	b.binds = append(b.binds, b.r.Mounts...)
	if j := b.r.Job; j != nil {
		b.bind(j.Input, "/input", spec.MountRO)
		b.bind(j.Output, "/output", spec.MountRW)
	}
	b.virtual()
	slices.SortStableFunc(b.binds, func(x, y spec.MountAt) int { return len(x.Target) - len(y.Target) })
}

func (b *builder) bind(source spec.Path, target string, mode spec.MountMode) {
	if source.Real != "" {
		b.binds = append(b.binds, spec.MountAt{Mount: spec.Mount{Mode: mode}, Source: source, Target: target, Field: source.Field, At: source.At})
	}
}

// images are the paths inside at which a path of the host shows: its own, and
// where a bind of a folder above it shows it once more. Whoever mounts a path by
// its own name means it; a workshop means no part of its tree by name.
func (b *builder) images(path string) []string {
	var at []string
	if b.visible(path) {
		at = append(at, path)
	}
	for i := range b.binds {
		m := &b.binds[i]
		source := m.Source.Real
		if m.Mode == spec.MountTmpfs || !under(path, source) || path == source && m.Field != "sandbox.root" {
			continue
		}
		if image := m.Target + path[len(source):]; b.onTop(image) == i && !b.isMasked(image) {
			at = append(at, image)
		}
	}
	return at
}

// allImages are images and all that shows something beneath path: hide beats
// mounts, whatever they name, and write and read.
func (b *builder) allImages(path string) []string {
	at := b.images(path)
	for i := range b.binds {
		if m := &b.binds[i]; m.Mode != spec.MountTmpfs && under(m.Source.Real, path) && b.onTop(m.Target) == i && !b.isMasked(m.Target) {
			at = append(at, m.Target)
		}
	}
	if b.prefix == "" || b.visible(path) {
		return at
	}
	for _, s := range b.shown {
		if under(s, path) && b.visible(s) {
			at = append(at, s)
		}
	}
	for _, w := range b.writables() {
		if under(w.Real, path) && b.visible(w.Real) {
			at = append(at, w.Real)
		}
	}
	return at
}

// onTop is the bind that is seen at a path, the one with the longest target;
// -1 for none.
func (b *builder) onTop(path string) int {
	top := -1
	for i := range b.binds {
		if under(path, b.binds[i].Target) && (top < 0 || len(b.binds[i].Target) > len(b.binds[top].Target)) {
			top = i
		}
	}
	return top
}

// mayWrite tells whether what stands at a path inside can be written there.
func (b *builder) mayWrite(image string) bool {
	if i := b.onTop(image); i >= 0 {
		return b.binds[i].Mode != spec.MountRO
	}
	return b.inWritable(image)
}

// boundOver is the path of the host that shows at a path inside because a bind
// of a folder above it does.
func (b *builder) boundOver(path string) (source string, bound bool) {
	top := -1
	for i := range b.binds {
		if m := &b.binds[i]; path != m.Target && under(path, m.Target) && (top < 0 || len(m.Target) > len(b.binds[top].Target)) {
			top = i
		}
	}
	if top < 0 || b.binds[top].Mode == spec.MountTmpfs {
		return "", false
	}
	return b.binds[top].Source.Real + path[len(b.binds[top].Target):], true
}

func (b *builder) isMasked(path string) bool {
	for _, m := range b.masked {
		if under(path, m) {
			return true
		}
	}
	return false
}
