package wrap

// mount makes the operations that put the items in their places.
func (b *builder) mount() {
	most := len(b.items) + 20 // for the scratch tmpfs
	for n := range b.items {
		if c := b.items[n].cover; c != nil {
			most += len(c.parts) + 3
		}
	}
	b.plan.Mounts = make([]Mount, 0, most)
	for n := range b.items {
		b.mountAt(&b.items[n], b.in(b.items[n].path))
	}
	if b.prefix != "" {
		b.op(Mount{Op: OpSeal, Target: b.prefix, Why: "nobody may write to the new root itself"})
		b.op(Mount{Op: OpPivot, Target: b.prefix})
	}
	b.plan.items = b.items
}

// ops has the operation of each kind of item that takes exactly one, at the item's path.
var ops = [...]Op{itemFresh: OpTmpfs, itemProc: OpProc, itemMasked: OpPlace, itemSealed: OpSeal, itemPinned: OpPin, itemDevpts: OpDevpts, itemMade: OpFile,
	itemGone: OpWhiteout, itemLinked: OpSymlink, itemWritten: OpContent, itemCopied: OpCopy, itemShown: OpBind, itemOwned: OpBind, itemLaid: OpBind,
	itemClosed: OpBind, itemSaved: OpClone, itemRead: OpRead, itemDetached: OpPrivate, itemScratch: OpScratch}

// mountAt makes the operations of one item. target is where its path lies while the tree is put
// together.
func (b *builder) mountAt(i *item, target string) {
	m := Mount{Op: ops[i.how], Source: i.source, Target: target, Mode: i.mode, Slot: i.slot, Perm: i.perm, Soft: i.soft, For: i.field, Why: i.why}
	switch i.how {
	case itemRooted:
		switch {
		case i.source == "":
			m = Mount{Op: OpPin, Target: b.prefix, Why: "pivot_root(2) wants a mount point"}
		case i.mode == ModeRO:
			m = Mount{Op: OpReadOnly, Target: "/", For: i.field}
		default:
			return
		}
	case itemShown:
		if i.slot != 0 {
			m.Op, m.Mode = OpAttach, ModeKeep
		}
	case itemOwned:
		m.Source, m.Perm = b.scratchAt()+i.source, 0
		if i.slot != 0 {
			m.Op, m.Source = OpPlace, ""
		}
	case itemAnew:
		b.coverWith(i.cover, target)
		return
	case itemFresh:
		m.Slot, m.Size = 0, int64(i.slot)
	case itemProc:
		if b.prefix != "" { // the scratch directory goes away with the old root, while this one is covered and stays
			b.masks(target)
		}
	case itemLaid:
		m.Source = b.in(i.source)
	case itemMasked:
		m.Source, m.Slot, m.Own, m.Mode, m.Why = "", slotNone, i.slot, ModeRO, ""
		if i.kind == Dir {
			m.Slot = SlotEmpty
		}
	case itemClosed:
		m.Source, m.Mode = target, ModeRO
	case itemPinned:
		m.Source = ""
	case itemDevpts:
		m.Slot, m.Own = 0, i.slot
	case itemMade:
		if i.kind == Dir {
			m.Op = OpMkdir
		}
	case itemWritten:
		if i.path == ParentPath { // by now it is decided what the sandbox enforces
			m.Source = string((&reporter{b.places}).parentOf().AppendJSON(make([]byte, 0, 1<<10)))
		}
	case itemSaved, itemRead:
		m.Target = ""
	case itemScratch:
		b.scratchMounts()
		return
	case itemDetached:
		m.Target = i.path
	}
	b.op(m)
	if i.how >= itemMasked && i.how <= itemPinned && i.source != "" {
		m.Target = i.path
		if i.how == itemClosed {
			m.Source = i.path
		}
		b.renew(i.source, m)
	}
}

// coverWith covers a directory with its own parts: in a private directory or, if the rest of the
// directory shows too, in a layer over it. In the layer a whiteout (a character device 0/0,
// overlayfs(5)) hides a name. An unprivileged user can make one since Linux 5.11.
func (b *builder) coverWith(c *cover, target string) {
	at, n := b.scratchAt(), itoa(c.n)
	dir := at + "/layer" + n
	if c.rebuilt {
		dir = at + "/dir" + n
	}
	b.op(Mount{Op: OpMkdir, Target: dir, Perm: c.perm})
	for k := range c.parts {
		b.mountAt(&c.parts[k], dir+c.parts[k].path[len(c.dir):])
	}
	if c.rebuilt {
		b.op(Mount{Op: OpBind, Source: dir, Target: target, Mode: c.mode, For: c.f})
		return
	}
	m := Mount{Op: OpOverlay, Source: dir, Lower: c.dir, Target: target, For: c.f}
	if c.layer {
		m.For = c.layerField()
		m.Upper = at + "/written"
		m.Work = at + "/work" + n
		perm := b.h.HomeMode | 0o700
		if c.learned {
			m.Upper += n
			perm = b.h.layer(c.dir).Mode
		}
		b.op(Mount{Op: OpMkdir, Target: m.Upper, Perm: perm})
		b.op(Mount{Op: OpMkdir, Target: m.Work, Perm: 0o700})
	}
	b.op(m)
}

func (b *draft) op(m Mount) { b.plan.Mounts = append(b.plan.Mounts, m) }

// masks makes and opens the empty directory and the empty file. They stay mounted in the tree, if
// covered, because renewing a mask binds them again, and a detached mount cannot be bound. Their
// modes let their owner write, so that only the mount denies a write to a mask, which the record
// then reports.
func (b *draft) masks(at string) {
	b.op(Mount{Op: OpMkdir, Target: at + partEmpty, Perm: 0o755})
	b.op(Mount{Op: OpFile, Target: at + partNone, Perm: 0o644})
	b.op(Mount{Op: OpOpen, Source: at + partEmpty, Slot: SlotEmpty})
	b.op(Mount{Op: OpOpen, Source: at + partNone, Slot: slotNone})
}

// scratchMounts mounts the scratch tmpfs, makes its parts and, if the host's root stays in place,
// opens the two masks.
func (b *layers) scratchMounts() {
	at := b.scratchAt()
	b.op(Mount{Op: OpScratch, Target: at, Perm: 0o755, Size: b.tmpfsSize()})
	if b.r.Learn {
		b.op(Mount{Op: OpOpen, Source: at, Slot: SlotScratch, For: FieldLayer})
	}
	mkdir := func(part string, perm uint32) { b.op(Mount{Op: OpMkdir, Target: at + part, Perm: perm}) }
	if b.prefix == "" {
		b.masks(at)
	}
	mkdir(partDev, 0o755)
	for _, dir := range b.private {
		if b.opensAt[dir] == 0 {
			mkdir(b.part(dir))
		}
	}
	for _, dir := range b.opened {
		if slot := b.opensAt[dir]; slot != 0 {
			part, perm := b.part(dir)
			mkdir(part, perm)
			b.op(Mount{Op: OpOpen, Source: at + part, Slot: slot})
		}
	}
	if b.prefix != "" {
		mkdir(partRoot, 0o755)
		mkdir(partHome, 0o700)
		mkdir(partWork, 0o755)
	}
}
