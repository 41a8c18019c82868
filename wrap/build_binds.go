package wrap

import (
	"slices"

	"sbx/spec"
)

// gather lists what is bound at a path other than its own: the spec's mounts, the two directories
// of a job, and a workshop's tree at its virtual path. A mount whose target lies under another
// target comes after that one, whatever the spec's order.
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

// images returns the paths inside at which a path of the host shows: its own path, and those where
// a bind of a directory above it shows it again. A bind of the path itself is left out, because the
// spec asked for that one by name; the binds of a workshop's tree are made by sbx, so they count.
func (b *places) images(path string) []string {
	at := b.view.Images(path)
	for i := range b.binds {
		if m := &b.binds[i]; m.Source.Real == path && m.Field != "sandbox.root" {
			at = slices.DeleteFunc(at, func(image string) bool { return image == m.Target })
		}
	}
	return at
}

// allImages returns images and every place inside that shows something under path. The field hide
// needs them all, because it beats mounts, write and read.
func (b *places) allImages(path string) []string {
	at := b.images(path)
	for _, part := range b.view.Parts(path) {
		if !slices.ContainsFunc(at, func(image string) bool { return under(part, image) }) {
			at = append(at, part)
		}
	}
	return at
}

// onTop returns the index of the bind that shows at a path, the one with the longest target; -1 for
// none.
func (b *places) onTop(path string) int {
	top := -1
	for i := range b.binds {
		if under(path, b.binds[i].Target) && (top < 0 || len(b.binds[i].Target) > len(b.binds[top].Target)) {
			top = i
		}
	}
	return top
}
