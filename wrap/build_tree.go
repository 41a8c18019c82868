package wrap

import "sbx/spec"

// gatherHost lists the host's files that will be shown over the base. If the host's root stays in
// place, it also takes clones of them, since later items cover them or make them read-only.
func (b *builder) gatherHost() {
	l := &b.host
	for _, d := range b.devices() {
		l.devices = append(l.devices, item{path: d.Path, source: d.Real, kind: Device, mode: ModeDevice, field: deviceField(&d)})
	}
	if b.hostShm() {
		l.memory = []item{{path: hostShm, source: hostShm, kind: Dir}}
	}
	if wd := b.r.WorkingDir.Real; b.showsWorkDir() {
		l.workspace = append(l.workspace, item{path: wd, source: wd, kind: Dir, mode: ModeRO, field: "working_dir"})
	}
	for _, w := range b.writables() {
		l.workspace = append(l.workspace, ofPath(w, ModeRW))
	}
	for _, p := range b.ownReads() {
		i := ofPath(p, ModeRO)
		i.soft = true
		l.reads = append(l.reads, i)
	}
	for k := range b.binds {
		m := &b.binds[k]
		i := item{path: m.Target, source: m.Source.Real, kind: bindKind(m), mode: ModeRO, field: m.Field}
		switch m.Mode {
		case spec.MountRW:
			i.mode = ModeRW
		case spec.MountTmpfs:
			i = item{how: itemFresh, path: m.Target, perm: 0o755, slot: int(b.tmpfsSize()), field: m.Field, why: m.Label}
		}
		l.mounts = append(l.mounts, i)
	}
	if b.covered("/run") {
		l.broker = b.brokerWay()
		for _, k := range b.h.Keep {
			l.run = append(l.run, item{path: k.Path, source: k.Real, kind: k.Kind, mode: ModeRO, field: FieldPrivate})
		}
	}
	for _, list := range [...][]item{l.devices, l.memory, l.workspace, l.reads, b.copies, l.broker, l.mounts, l.run} {
		for k := range list {
			i := &list[k]
			if i.how == itemCopied || i.how == itemShown && b.prefix == "" {
				b.save(i, i.source)
			}
		}
	}
}

// placeWritable lays the writable trees at their places.
func (b *builder) placeWritable() {
	for _, i := range b.host.workspace {
		b.target(i.path, i.kind)
		b.pinOwn(&i)
		b.add(i)
	}
	for _, w := range b.writables() {
		b.links(w)
	}
}

// showsWorkDir reports whether the working directory must be bound in to be seen: it is not
// writable, and a directory of the sandbox's own covers it.
func (b *builder) showsWorkDir() bool {
	wd := b.r.WorkingDir.Real
	return (b.prefix == "" || b.whole) && b.r.WorkingDir.Exists && b.coveredStrictly(wd) && !b.inWritable(wd) && !b.isHidden(wd)
}

// links makes the links by which the spec names a path, if the new root lacks them.
func (b *layers) links(p spec.Path) {
	if b.prefix == "" {
		return
	}
	for _, l := range p.Links {
		if !b.inView(l.Path) {
			b.symlink(l.Path, l.Target)
		}
	}
}

// bindKind returns the kind of file that a bind's target must be.
func bindKind(m *spec.MountAt) Kind {
	if m.Mode == spec.MountTmpfs {
		return Dir
	}
	return pathKind(m.Source)
}

// placeMounts lays the spec's mounts.
func (b *layers) placeMounts() {
	for k, i := range b.host.mounts {
		b.mountPoint(&b.binds[k])
		if i.mode == ModeRO && i.source == i.path { // the mount makes an existing path read-only, so that path must stay there
			b.pinsAbove(i.path, i.path)
		}
		b.add(i)
	}
}
