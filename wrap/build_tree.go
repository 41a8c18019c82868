package wrap

import (
	"slices"
	"strconv"

	"sbx/spec"
)

func itoa(n int) string { return strconv.Itoa(n) }

// coveredStrictly tells whether path lies beneath a private directory, itself not
// counted.
func (b *places) coveredStrictly(path string) bool {
	for _, dir := range b.private {
		if path != dir && under(path, dir) {
			return true
		}
	}
	return path != "/dev" && b.ownDev(path)
}

// ofHost is what of the host's own files is shown over the base.
type ofHost struct{ devices, memory, workspace, reads, broker, mounts, run []item }

// gatherHost lists that and, where the root is the host's, takes clones of it: what comes
// would cover it or make it read-only.
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

// writables are the paths that are bound in writable, a directory before what is
// in it, one that lies in another left out.
func (b *places) writables() []spec.Path {
	if b.writable != nil || !b.restricted() {
		return b.writable
	}
	all := []spec.Path{}
	for _, w := range b.r.Write {
		if w.Exists && !b.isHidden(w.Real) {
			all = append(all, w)
		}
	}
	all = append(all, b.outside()...)
	slices.SortStableFunc(all, func(x, y spec.Path) int {
		switch {
		case x.Real < y.Real:
			return -1
		case x.Real > y.Real:
			return 1
		}
		return 0
	})
	b.writable = []spec.Path{}
	for _, w := range all {
		if !b.isWritable(w.Real) {
			b.writable = append(b.writable, w)
		}
	}
	return b.writable
}

// outside are the common directories of linked worktrees, which git inside has to write.
func (b *places) outside() (common []spec.Path) {
	for i := range b.h.Repositories {
		if repo := &b.h.Repositories[i]; repo.Outside && !b.r.ReadOnly {
			common = append(common, spec.Path{Abs: repo.Common, Real: repo.Common, Exists: true, IsDir: true})
		}
	}
	return common
}

// isHidden tells whether filesystem.hide names path or a directory above it.
func (b *places) isHidden(path string) bool {
	return slices.ContainsFunc(b.r.Hide, func(h spec.Path) bool { return under(path, h.Real) })
}

// isWritable tells whether path lies in a writable tree that is known so far.
func (b *places) isWritable(path string) bool {
	return slices.ContainsFunc(b.writable, func(w spec.Path) bool { return under(path, w.Real) })
}

// placeWritable puts the writable trees in their places.
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

// showsWorkDir tells whether the working directory, not writable, lies where
// the sandbox has a directory of its own, and must be bound in to be seen.
func (b *builder) showsWorkDir() bool {
	wd := b.r.WorkingDir.Real
	return (b.prefix == "" || b.whole) && b.r.WorkingDir.Exists && b.coveredStrictly(wd) && !b.inWritable(wd) && !b.isHidden(wd)
}

// links makes the links by which a path was named, where the new root has none.
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

// bindKind is what a bind's target must be.
func bindKind(m *spec.MountAt) Kind {
	if m.Mode == spec.MountTmpfs {
		return Dir
	}
	return pathKind(m.Source)
}

// placeMounts carries out filesystem.mounts.
func (b *layers) placeMounts() {
	for k, i := range b.host.mounts {
		b.mountPoint(&b.binds[k])
		if i.mode == ModeRO && i.source == i.path { // it keeps what is there, which is to stay there
			b.pinsAbove(i.path, i.path)
		}
		b.add(i)
	}
}
