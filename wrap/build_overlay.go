package wrap

import "slices"

// overlay covers a directory with a read-only overlay of itself: a layer with a
// whiteout for each hidden name (a character device 0/0, overlayfs(5)) and a
// directory for each new mount point lies over it. Unprivileged since Linux 5.11.
func (b *covering) overlay(n int, c *cover) {
	layer := b.scratchAt() + "/layer" + itoa(n)
	perm := uint32(0o755)
	if list := b.h.listing(c.dir); list != nil {
		perm = list.Mode // what the overlay's top shows of itself is its first layer's
	}
	b.op(Mount{Op: OpMkdir, Target: layer, Perm: perm})
	for _, name := range c.hide {
		b.makeIn(layer, Entry{Name: parent(name), Kind: Dir})
		b.op(Mount{Op: OpWhiteout, Target: layer + name, For: c.f})
	}
	for _, e := range c.make {
		b.makeIn(layer, e)
	}
	subs := b.bindsOver(c)
	for _, s := range subs {
		b.clone(s, s, ModeRO, c.f, true)
	}
	m := Mount{Op: OpOverlay, Source: layer, Lower: c.dir, Target: b.in(c.dir), For: c.f}
	if c.layer {
		m.For = c.layerField()
		m.Upper = b.scratchAt() + "/written"
		m.Work = b.scratchAt() + "/work" + itoa(n)
		perm := b.h.HomeMode | 0o700
		if c.learned {
			m.Upper += itoa(n)
			perm = b.h.layer(c.dir).Mode
		}
		b.op(Mount{Op: OpMkdir, Target: m.Upper, Perm: perm})
		b.op(Mount{Op: OpMkdir, Target: m.Work, Perm: 0o700})
	}
	b.op(m)
	b.layCovered(c)
	for _, s := range subs {
		b.put(s, s, Dir, ModeRO, c.f, true)
	}
}

// makeIn makes a mount point and the directories on the way to it in a layer.
func (b *covering) makeIn(layer string, e Entry) {
	mkdir := func(path string) {
		if path != layer+"/" && !b.made[path] {
			b.made[path] = true
			b.op(Mount{Op: OpMkdir, Target: path, Perm: 0o755})
		}
	}
	for i := 1; i < len(e.Name); i++ {
		if e.Name[i] == '/' {
			mkdir(layer + e.Name[:i])
		}
	}
	if e.Kind == Dir {
		mkdir(layer + e.Name)
	} else {
		b.op(Mount{Op: OpFile, Target: layer + e.Name, Perm: 0o644})
	}
}

// bindsOver is what is bound over an overlay again: the mounts beneath it, and the
// repositories around a writable tree, since git looks no further up than the file
// system goes and an overlay is one of its own. A repository in which the overlay
// hides or makes something stays its part.
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

// touches tells whether something is hidden or made in dir, or above it.
func (c *cover) touches(dir string) bool {
	near := func(name string) bool { return under(c.dir+name, dir) || under(dir, c.dir+name) }
	return slices.ContainsFunc(c.hide, near) || slices.ContainsFunc(c.make, func(e Entry) bool { return near(e.Name) })
}

// submounts are the topmost mount points beneath dir.
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

// rebuild covers a directory with a private one into which all but the hidden
// names are bound.
func (b *covering) rebuild(n int, c *cover, list *Listing) {
	dir := b.scratchAt() + "/dir" + itoa(n)
	const others = 96 // what a Plan has besides, so that this is not copied again
	b.plan.Mounts = slices.Grow(b.plan.Mounts, 2*len(list.Entries)+others)
	b.op(Mount{Op: OpMkdir, Target: dir, Perm: list.Mode | 0o700})
	for _, e := range list.Entries {
		path := c.dir + "/" + e.Name
		if slices.Contains(c.hide, "/"+e.Name) {
			continue
		}
		if c.layer && b.isCopied(path) || path == b.req.Record || c.makes("/"+e.Name) {
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
	b.recordOut = b.recordOut || parent(b.req.Record) == c.dir
	for _, e := range c.make {
		b.makeIn(dir, e)
	}
	mode := b.baseMode()
	if c.layer {
		b.copyTo(dir)
		mode = ModeRW
	}
	b.op(Mount{Op: OpBind, Source: dir, Target: b.in(c.dir), Mode: mode, For: c.f})
	b.layCovered(c)
	for _, e := range list.Entries {
		if path := c.dir + "/" + e.Name; !slices.Contains(c.hide, "/"+e.Name) && !(c.layer && b.isCopied(path)) {
			b.lay(path, path, e.Kind, b.baseMode(), c.f)
		}
	}
	if b.recordOut {
		b.layMask(b.req.Record, FieldRecord, "")
	}
	if !b.restricted() {
		b.op(Mount{Op: OpSeal, Target: b.in(c.dir), Why: "what would be made in it would be lost"})
	}
}
