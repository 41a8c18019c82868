package wrap

import (
	"slices"

	"sbx/spec"
)

// gather lists what is bound at a path of its own: the spec's mounts, the two
// directories of a job, and a workshop's tree at its virtual path. A mount under
// another's target comes after it, in whatever order the spec has them.
func (b *virtual) gather() {
	b.binds = append(b.binds, b.r.Mounts...)
	if j := b.r.Job; j != nil {
		b.bind(j.Input, "/input", spec.MountRO)
		b.bind(j.Output, "/output", spec.MountRW)
	}
	b.virtual()
	slices.SortStableFunc(b.binds, func(x, y spec.MountAt) int { return len(x.Target) - len(y.Target) })
}

func (b *places) bind(source spec.Path, target string, mode spec.MountMode) {
	if source.Real != "" {
		b.binds = append(b.binds, spec.MountAt{Mount: spec.Mount{Mode: mode}, Source: source, Target: target, Field: source.Field, At: source.At})
	}
}

// images are the paths inside at which a path of the host shows: its own, and
// where a bind of a directory above it shows it once more. Whoever mounts a path by
// its own name means it; a workshop means no part of its tree by name.
func (b *places) images(path string) []string {
	at := b.view.Images(path)
	for i := range b.binds {
		if m := &b.binds[i]; m.Source.Real == path && m.Field != "sandbox.root" {
			at = slices.DeleteFunc(at, func(image string) bool { return image == m.Target })
		}
	}
	return at
}

// allImages are images and all that shows something under path: hide beats
// mounts, whatever they name, and write and read.
func (b *places) allImages(path string) []string {
	at := b.images(path)
	for _, part := range b.view.Parts(path) {
		if !slices.ContainsFunc(at, func(image string) bool { return under(part, image) }) {
			at = append(at, part)
		}
	}
	return at
}

// onTop is the bind that is seen at a path, the one with the longest target;
// -1 for none.
func (b *places) onTop(path string) int {
	top := -1
	for i := range b.binds {
		if under(path, b.binds[i].Target) && (top < 0 || len(b.binds[i].Target) > len(b.binds[top].Target)) {
			top = i
		}
	}
	return top
}
