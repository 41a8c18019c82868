package wrap

import (
	"slices"

	"sbx/spec"
)

// cover is a folder that is laid over because something in it must be hidden
// by name, or must be there to be mounted on. A mount on a file vanishes when
// the host renames another over it, as `git credential-store`, `npm login` and
// `gh auth` do; a name that the folder does not show stays hidden.
type cover struct {
	dir  string
	hide []string // names
	make []Entry  // mount points that the host lacks: paths relative to dir
	f    spec.Field
}

// fewEntries is up to how many entries a folder is put together anew, from
// binds of all that stays, instead of an overlay.
const fewEntries = 8

// hideByName covers the folders of hidden files.
func (b *builder) hideByName() {
	for i, c := range b.covers() {
		list := b.h.listing(c.dir)
		if list != nil && (len(list.Entries) <= fewEntries || b.h.Overlay.State == No || !b.restricted()) {
			b.rebuild(i, c, list)
		} else {
			b.overlay(i, c)
		}
	}
}

// covers are the folders to cover, a folder before what is in it.
func (b *builder) covers() []cover {
	var covers []cover
	at := func(dir string, f spec.Field) *cover {
		for i := range covers {
			if covers[i].dir == dir {
				return &covers[i]
			}
		}
		covers = append(covers, cover{dir: dir, f: f})
		return &covers[len(covers)-1]
	}
	name := func(path string, f spec.Field) {
		dir := parent(path)
		if b.hideable(dir) {
			c := at(dir, f)
			if n := path[len(dir):]; !slices.Contains(c.hide, n) {
				c.hide = append(c.hide, n)
			}
		}
	}
	for _, s := range b.h.Secrets {
		if s.Kind != Dir {
			name(s.Path, FieldSecrets)
		}
	}
	for _, p := range b.r.Hide {
		if p.Exists && !p.IsDir {
			name(p.Real, "filesystem.hide")
			name(p.Abs, "filesystem.hide")
		}
	}
	for i := range b.r.Mounts {
		m := &b.r.Mounts[i]
		dir, rest := b.lacking(m.Target)
		if rest != "" && dir != "/" && b.makeable(dir) {
			kind := Dir
			if m.Mode != spec.MountTmpfs && !m.Source.IsDir {
				kind = File
			}
			c := at(dir, m.Field)
			c.make = append(c.make, Entry{Name: rest, Kind: kind})
		}
	}
	slices.SortStableFunc(covers, func(x, y cover) int { return len(x.dir) - len(y.dir) })
	return covers
}

// hideable tells whether names can be hidden in dir: it is in view as a whole,
// and neither private nor writable.
func (b *builder) hideable(dir string) bool {
	if b.covered(dir) || b.inWritable(dir) {
		return false
	}
	return b.prefix == "" || b.inView(dir)
}

// makeable tells whether dir can be covered by one with further names: where it
// is the host's own to write, only one that is put together anew from binds
// loses nothing that is written there.
func (b *builder) makeable(dir string) bool {
	if b.restricted() {
		return !b.inWritable(dir)
	}
	return b.h.listing(dir) != nil
}

// inWritable tells whether path lies in a tree that is writable inside.
func (b *builder) inWritable(path string) bool {
	if !b.restricted() {
		return true
	}
	b.writables()
	return b.isWritable(path)
}

// lacking parts a mount's target that the host does not have into the nearest
// folder that is there and the rest; rest is "" where nothing is to be made.
func (b *builder) lacking(target string) (dir, rest string) {
	if b.r.Visible || b.covered(target) || b.h.Kind(target) != Absent {
		return "", ""
	}
	dir = parent(target)
	for dir != "/" && b.h.Kind(dir) == Absent {
		dir = parent(dir)
	}
	if dir == "/" {
		return dir, target
	}
	return dir, target[len(dir):]
}

// overlay covers a folder with a read-only overlay of itself: a layer with a
// whiteout for each hidden name (a character device 0/0, overlayfs(5)) and a
// folder for each new mount point lies over it. Unprivileged since Linux 5.11.
func (b *builder) overlay(n int, c cover) {
	layer := b.scratchAt() + "/layer" + itoa(n)
	b.op(Mount{Op: OpMkdir, Target: layer, Perm: 0o755})
	for _, name := range c.hide {
		b.op(Mount{Op: OpWhiteout, Target: layer + name, For: c.f})
	}
	for _, e := range c.make {
		b.makeIn(layer, e)
	}
	subs := b.submounts(c.dir)
	for _, s := range subs {
		b.clone(s, ModeRO, c.f, true)
	}
	b.op(Mount{Op: OpOverlay, Source: layer, Lower: c.dir, Target: b.in(c.dir), For: c.f})
	for _, s := range subs {
		b.put(s, s, ModeRO, c.f, true)
	}
	for _, name := range c.hide {
		b.masked = append(b.masked, c.dir+name)
	}
}

// makeIn makes a mount point and the folders on the way to it in a layer.
func (b *builder) makeIn(layer string, e Entry) {
	for i := 1; i < len(e.Name); i++ {
		if e.Name[i] == '/' {
			b.op(Mount{Op: OpMkdir, Target: layer + e.Name[:i], Perm: 0o755})
		}
	}
	if e.Kind == Dir {
		b.op(Mount{Op: OpMkdir, Target: layer + e.Name, Perm: 0o755})
	} else {
		b.op(Mount{Op: OpFile, Target: layer + e.Name, Perm: 0o644})
	}
}

// submounts are the topmost mount points beneath dir.
func (b *builder) submounts(dir string) []string {
	var subs []string
next:
	for _, m := range b.h.Mounts {
		if m.Path == dir || !under(m.Path, dir) || b.covered(m.Path) {
			continue
		}
		for _, s := range subs {
			if under(m.Path, s) {
				continue next
			}
		}
		subs = append(subs, m.Path)
	}
	return subs
}

// rebuild covers a folder with a private one into which all but the hidden
// names are bound.
func (b *builder) rebuild(n int, c cover, list *Listing) {
	dir := b.scratchAt() + "/folder" + itoa(n)
	b.op(Mount{Op: OpMkdir, Target: dir, Perm: list.Mode | 0o700})
	for _, e := range list.Entries {
		path := c.dir + "/" + e.Name
		if slices.Contains(c.hide, "/"+e.Name) {
			b.masked = append(b.masked, path)
			continue
		}
		at := dir + "/" + e.Name
		switch e.Kind {
		case Symlink:
			b.op(Mount{Op: OpSymlink, Source: e.Target, Target: at})
			continue
		case Dir:
			b.op(Mount{Op: OpMkdir, Target: at, Perm: 0o755})
		default:
			b.op(Mount{Op: OpFile, Target: at, Perm: 0o644})
		}
		b.op(Mount{Op: OpBind, Source: path, Target: at, Mode: b.baseMode(), Soft: true, For: c.f})
	}
	for _, e := range c.make {
		b.makeIn(dir, e)
	}
	b.op(Mount{Op: OpBind, Source: dir, Target: b.in(c.dir), Mode: b.baseMode(), For: c.f})
	if !b.restricted() {
		b.op(Mount{Op: OpSeal, Target: b.in(c.dir), Why: "what would be made in it would be lost"})
	}
}

// listing is what Probe found in dir, or nil.
func (h *Host) listing(dir string) *Listing {
	for i := range h.Listing {
		if h.Listing[i].Dir == dir {
			return &h.Listing[i]
		}
	}
	return nil
}

// maskSecrets lays the empty folder or file over what is hidden and has no
// name to hide: secret folders, sockets, removable media, and files in trees
// that stay themselves because they are writable.
func (b *builder) maskSecrets() {
	for _, s := range b.h.Secrets {
		if !b.visible(s.Real) || slices.Contains(b.opened, s.Real) {
			continue
		}
		if s.Kind == Dir {
			b.mask(s.Real, Dir, FieldSecrets)
		} else if b.inWritable(parent(s.Path)) {
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
