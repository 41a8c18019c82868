package wrap

import "slices"

// overlay covers a directory with an overlay of that directory.
func (b *covering) overlay(c *cover) {
	c.perm = 0o755
	if list := b.h.listing(c.dir); list != nil {
		c.perm = list.Mode // an overlay shows the attributes of its top layer's root
	}
	for _, name := range c.hide {
		c.add(Entry{Name: parent(name), Kind: Dir})
		c.parts = append(c.parts, item{how: itemGone, path: c.dir + name, field: c.f})
	}
	for _, e := range c.make {
		c.add(e)
	}
	var subs []item
	for _, s := range b.bindsOver(c) {
		subs = append(subs, item{path: s, source: s, kind: Dir, mode: ModeRO, field: c.f, soft: true})
		b.save(&subs[len(subs)-1], s)
	}
	b.add(item{how: itemAnew, path: c.dir, cover: c})
	for _, i := range subs {
		b.add(i)
	}
}

// add adds a mount point to the parts of a cover, and the directories that lead to it.
func (c *cover) add(e Entry) {
	for i := 1; i <= len(e.Name); i++ {
		if i < len(e.Name) && e.Name[i] != '/' || i == len(e.Name) && e.Kind != Dir {
			continue
		}
		if path := c.dir + e.Name[:i]; path != c.dir+"/" && !slices.ContainsFunc(c.parts, func(p item) bool { return p.path == path }) {
			c.parts = append(c.parts, item{how: itemMade, path: path, kind: Dir, perm: 0o755})
		}
	}
	if e.Kind != Dir {
		c.parts = append(c.parts, item{how: itemMade, path: c.dir + e.Name, perm: 0o644})
	}
}

// rebuild covers a directory with a private one and binds every name into it that is not hidden.
func (b *covering) rebuild(c *cover, list *Listing) {
	c.rebuilt, c.perm, c.mode = true, list.Mode|0o700, b.baseMode()
	c.parts = make([]item, 0, 2*len(list.Entries))
	stays := slices.DeleteFunc(slices.Clone(list.Entries), func(e Entry) bool {
		return slices.Contains(c.hide, "/"+e.Name) || c.layer && b.isCopied(c.dir+"/"+e.Name)
	})
	for _, e := range stays {
		path := c.dir + "/" + e.Name
		switch {
		case path == b.req.Record || c.makes("/"+e.Name):
			continue
		case e.Kind == Symlink:
			c.parts = append(c.parts, item{how: itemLinked, path: path, source: e.Target})
			continue
		case e.Kind == Dir:
			c.parts = append(c.parts, item{how: itemMade, path: path, kind: Dir, perm: 0o755})
		default:
			c.parts = append(c.parts, item{how: itemMade, path: path, perm: 0o644})
		}
		c.parts = append(c.parts, item{path: path, source: path, mode: b.baseMode(), soft: true, field: c.f})
	}
	for _, e := range c.make {
		c.add(e)
	}
	if c.layer {
		c.parts = append(c.parts, b.copies...)
		c.mode = ModeRW
	}
	b.recordOut = b.recordOut || parent(b.req.Record) == c.dir
	b.add(item{how: itemAnew, path: c.dir, cover: c})
	for _, e := range stays {
		b.lay(&item{path: c.dir + "/" + e.Name, source: c.dir + "/" + e.Name, kind: e.Kind, mode: b.baseMode(), field: c.f})
	}
	if b.recordOut {
		b.lay(&item{how: itemMasked, path: b.req.Record, field: FieldRecord})
	}
	if !b.restricted() {
		b.add(item{how: itemSealed, path: c.dir, why: "what would be made in it would be lost"})
	}
}

// bindsOver returns what must be bound over an overlay again: the mounts under the directory, and
// repositories around a writable tree. Git searches upwards for a repository only within one file
// system, and an overlay is a file system of its own. A repository in which the overlay hides or
// makes a name is not bound again.
func (b *covering) bindsOver(c *cover) []string {
	subs := b.submounts(c.dir)
	for _, top := range slices.Backward(b.h.Around) {
		if top == c.dir || !under(top, c.dir) || b.covered(top) || !b.oneMount(c.dir, top) || c.touches(top) ||
			slices.ContainsFunc(subs, func(s string) bool { return under(top, s) }) {
			continue
		}
		subs = append(slices.DeleteFunc(subs, func(s string) bool { return under(s, top) }), top)
	}
	return subs
}

// touches reports whether the cover hides or makes a name in dir, or above it.
func (c *cover) touches(dir string) bool {
	near := func(name string) bool { return under(c.dir+name, dir) || under(dir, c.dir+name) }
	return slices.ContainsFunc(c.hide, near) || slices.ContainsFunc(c.make, func(e Entry) bool { return near(e.Name) })
}

// submounts returns the topmost mount points under dir.
func (b *covering) submounts(dir string) []string {
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
