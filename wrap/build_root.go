package wrap

import (
	"slices"

	"sbx/spec"
)

// emptyRoot begins the new root and binds the visible paths read-only.
func (b *builder) emptyRoot() {
	b.add(item{how: itemRooted, path: "/", field: b.rootField()})
	b.placeHome()
	b.placeParts()
	b.writeCopies()
	if b.whole {
		b.wholeRoot()
	}
	for _, s := range b.h.System {
		if s.Target != "" {
			b.symlink(s.Path, s.Target)
			continue
		}
		b.show(s.Real, s.Path, s.Kind, fieldRead)
	}
	read := slices.Clone(b.r.Read)
	if b.r.Restricted.Real != "" {
		read = append(read, b.r.Restricted)
	}
	slices.SortStableFunc(read, func(x, y spec.Path) int { return len(x.Real) - len(y.Real) })
	for _, p := range read {
		if p.Real == "/" || under(p.Real, "/proc") || b.r.Job != nil && under(p.Real, "/work") || b.isHidden(p.Real) || b.isCopied(p.Real) {
			continue // shown already; the sandbox's own; the job's own, which the host may lack; hidden, which is stronger; copied
		}
		b.show(p.Real, p.Real, pathKind(p), p.Field)
		b.links(p)
	}
}

// rootField returns the field because of which the root is empty at first.
func (b *places) rootField() spec.Field {
	switch {
	case b.r.Root.Abs != "":
		return "sandbox.root"
	case b.r.Job != nil:
		return "--input, --output"
	case b.whole:
		return ""
	}
	return fieldRead
}

// wholeRoot binds every entry of the host's root into a new root. Unlike the host's root, the new
// one can get further entries.
func (b *builder) wholeRoot() {
	list := b.h.listing("/")
	for _, e := range list.Entries {
		path := "/" + e.Name
		switch {
		case e.Kind == Symlink:
			b.symlink(path, e.Target)
		case !b.covered(path):
			b.show(path, path, e.Kind, b.modeField())
		}
	}
}

// show binds source read-only at path in the empty root.
func (b *layers) show(source, path string, kind Kind, f spec.Field) {
	if b.view.At(path).Source != "" {
		return
	}
	b.place(item{path: path, source: source, kind: kind, mode: b.baseMode(), field: f})
	for _, dir := range b.private { // private directories that path now covers
		if path != dir && under(dir, path) && b.h.Kind(dir) == Dir {
			part, perm := b.part(dir)
			b.add(item{how: itemOwned, path: dir, source: part, perm: perm, field: FieldPrivate})
		}
	}
}

// baseMode returns the mount mode of paths that no field makes writable or read-only.
func (b *places) baseMode() Mode {
	if b.restricted() {
		return ModeRO
	}
	return ModeKeep
}
