package wrap

import (
	"slices"

	"sbx/spec"
)

// WithOwn returns r with the paths that the command's agent needs added to those that may be read
// and written, as if a document named them. Two kinds of paths are left out: those behind a link
// that a command of an earlier run may have left, and directories that contain the home. A locked
// path inside a directory that the agent writes needs no entry, because it is in view with that
// directory.
func WithOwn(r *spec.Resolved) *spec.Resolved {
	if len(r.Own) == 0 {
		return r
	}
	all := *r
	all.Read, all.Write = slices.Clone(r.Read), slices.Clone(r.Write)
	for i := range r.Own {
		o := &r.Own[i]
		if !o.Exists || astray(r, o) {
			continue
		}
		p := o.Path
		p.Field = FieldAgent
		switch {
		case o.Mode == spec.OwnPrivate:
		case o.Mode == spec.OwnWrite:
			all.Write = append(all.Write, p)
		case o.Mode == spec.OwnRead || !writesOwn(r, p.Real):
			all.Read = append(all.Read, p)
		}
	}
	return &all
}

// astray reports whether an agent's own path must not be opened: it leads through a link in a
// directory that commands write, or it contains the home directory.
func astray(r *spec.Resolved, o *spec.OwnPath) bool {
	return o.Real == "/" || r.Home != "" && (under(r.Home, o.Real) || under(r.Home, o.Abs)) || r.Planted(&o.Path) ||
		slices.ContainsFunc(o.Links, func(l spec.Link) bool { return writesOwn(r, l.Path) })
}

// writesOwn reports whether path lies in a directory that the agent writes.
func writesOwn(r *spec.Resolved, path string) bool {
	return slices.ContainsFunc(r.Own, func(o spec.OwnPath) bool {
		return o.Mode == spec.OwnWrite && o.Exists && under(path, o.Real)
	})
}

// opensOwn reports whether an agent's own path is opened for it.
func (b *places) opensOwn(abs string) bool {
	own := func(p spec.Path) bool { return p.Field == FieldAgent && p.Abs == abs }
	return slices.ContainsFunc(b.r.Read, own) || slices.ContainsFunc(b.r.Write, own)
}

// inOwnTree reports whether path lies in one of the agent's own directories that is bound writable.
func (b *guards) inOwnTree(path string) bool {
	return slices.ContainsFunc(b.writables(), func(w spec.Path) bool { return w.Field == FieldAgent && under(path, w.Real) })
}

// innerTrees returns the writable directories that lie in another writable one and are trees of
// their own, because protected names count from their tops. These are: an agent's own directory in
// the workspace, the workspace in another writable directory, the source of a mount, and a tree of
// a document that this one narrows.
func (b *guards) innerTrees() (t []string) {
	for _, w := range b.r.Write {
		if !w.Exists || !w.IsDir || b.isHidden(w.Real) || slices.Contains(t, w.Real) {
			continue
		}
		for _, top := range b.writables() {
			if w.Real != top.Real && under(w.Real, top.Real) && (w.Field == FieldAgent || top.Field == FieldAgent || w.Real == b.r.WorkingDir.Real) {
				t = append(t, w.Real)
				break
			}
		}
	}
	for _, top := range b.tops() {
		if b.inWritable(top) && !b.isHidden(top) && !slices.Contains(t, top) &&
			!slices.ContainsFunc(b.writables(), func(w spec.Path) bool { return w.Real == top }) {
			t = append(t, top)
		}
	}
	return t
}

// tops returns the sources of writable mounts, and the tops of trees in documents that this one
// narrows.
func (b *guards) tops() []string {
	all := slices.Clone(b.r.Tops)
	for i := range b.r.Mounts {
		if m := &b.r.Mounts[i]; m.Mode == spec.MountRW && m.Source.IsDir {
			all = append(all, m.Source.Real)
		}
	}
	return all
}

// closeWorkDir makes a working directory read-only that may only be read, but lies in a directory
// that the agent writes. Paths under it that the document lets the command write stay writable.
func (b *guards) closeWorkDir() {
	wd := b.r.WorkingDir.Real
	if !b.r.ReadOnly || !b.inOwnTree(wd) || b.onTop(wd) >= 0 || slices.ContainsFunc(b.r.Write, func(w spec.Path) bool { return w.Real == wd || w.Field != FieldAgent && under(wd, w.Real) }) {
		return
	}
	b.pinsAbove(wd, wd)
	var stays []item
	for _, w := range b.r.Write {
		if w.Exists && w.Real != wd && under(w.Real, wd) && !b.isHidden(w.Real) {
			stays = append(stays, ofPath(w, ModeRW))
		}
	}
	b.coverKeeping(stays, func() {
		b.add(item{how: itemClosed, path: wd, field: b.modeField(), why: "it may only be read", source: wd})
		b.plan.Watch.Closed = append(b.plan.Watch.Closed, wd)
	})
}

// privateOwn gives the sandbox private directories in place of those in which the agent's sessions
// on the host find programs and scripts to run. Directories in the home's layer are the sandbox's
// own anyway, and those that a document names stay the host's.
func (b *homeLayer) privateOwn() {
	for i := range b.r.Own {
		o := &b.r.Own[i]
		if o.Mode != spec.OwnPrivate || !o.IsDir || len(o.Links) > 0 || b.isHidden(o.Real) || slices.Contains(b.opened, o.Real) {
			continue
		}
		opened := b.onTop(o.Real) >= 0 || under(b.r.WorkingDir.Real, o.Real) || slices.ContainsFunc(b.r.Write, func(w spec.Path) bool {
			return w.Field != FieldAgent && under(w.Real, o.Real)
		})
		if written := b.inWritable(o.Real); !opened && (written || b.home != homeOverlay) {
			b.opened = append(b.opened, o.Real)
		}
	}
}

// ownRecord keeps the command from the record if its path can be seen inside: it masks the file,
// and it makes writable directories above it mount points, so that the command cannot rename them.
func (b *guards) ownRecord() {
	path := b.req.Record
	if path == "" {
		return
	}
	for _, at := range b.images(path) {
		if b.recordOut && at == path && b.onTop(at) < 0 && (!b.restricted() || !b.inWritable(at)) {
			continue // no bind covers it that would show it again
		}
		b.pinsAbove(path, at)
		b.add(item{how: itemMasked, path: at, field: FieldRecord, source: path})
		b.plan.Watch.Record = path
	}
}

// ownSources makes the documents of the spec read-only if they lie in a writable tree, because the
// next run would read the changed ones.
func (b *guards) ownSources() {
	for _, path := range b.req.Sources {
		for _, at := range b.writableImages(path) {
			b.pinsAbove(path, at)
			b.add(item{how: itemClosed, path: at, soft: true, field: FieldProtected, why: "the spec itself", source: path})
		}
	}
}
