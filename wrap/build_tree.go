package wrap

import (
	"slices"
	"strconv"

	"sbx/spec"
)

func itoa(n int) string { return strconv.Itoa(n) }

// folder makes the directories down to path where the new tree lacks them: in an
// empty root, or in a private directory.
func (b *mounter) folder(path string, perm uint32) {
	if path == "/" || b.made[path] || b.view.At(path).Source != "" {
		return
	}
	b.folder(parent(path), 0o755)
	b.made[path] = true
	b.op(Mount{Op: OpMkdir, Target: b.in(path), Perm: perm})
}

// target makes what a mount of kind k needs to stand at path.
func (b *mounter) target(path string, k Kind) {
	if k == Dir {
		b.folder(path, 0o755)
		return
	}
	b.folder(parent(path), 0o755)
	if !b.made[path] && b.view.At(path).Source == "" {
		b.made[path] = true
		b.op(Mount{Op: OpFile, Target: b.in(path), Perm: 0o644})
	}
}

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

// taken is what a clone is of, and where it goes.
type taken struct {
	source string
	target string
	mode   Mode
}

// put binds source, which is of kind k, at path: from the clone that was taken of it while the
// host's tree was as it was, or directly where nothing has been covered.
func (b *mounter) put(source, path string, k Kind, mode Mode, f spec.Field, soft bool) {
	b.lay(path, source, k, mode, f)
	key := taken{source, path, mode}
	if slots := b.slots[key]; len(slots) > 0 {
		b.slots[key] = slots[1:]
		b.op(Mount{Op: OpAttach, Slot: slots[0], Source: source, Target: b.in(path), For: f, Soft: soft})
		return
	}
	b.op(Mount{Op: OpBind, Source: source, Target: b.in(path), Mode: mode, For: f, Soft: soft})
}

// clone takes a clone of source now, for put at path.
func (b *mounter) clone(source, path string, mode Mode, f spec.Field, soft bool) {
	key, slot := taken{source, path, mode}, b.hold()
	b.slots[key] = append(b.slots[key], slot)
	b.op(Mount{Op: OpClone, Source: source, Slot: slot, Mode: mode, For: f, Soft: soft})
}

// take clones what the steps to come would cover or make read-only.
func (b *builder) take() {
	for _, d := range b.devices() {
		b.clone(d.Real, d.Path, ModeDevice, deviceField(&d), false)
	}
	if b.hostShm() {
		b.clone(hostShm, hostShm, ModeKeep, "", false)
	}
	if b.showsWorkDir() {
		b.clone(b.r.WorkingDir.Real, b.r.WorkingDir.Real, ModeRO, "working_dir", false)
	}
	for _, w := range b.writables() {
		b.clone(w.Real, w.Real, ModeRW, w.Field, false)
	}
	for _, p := range b.ownReads() {
		b.clone(p.Real, p.Real, ModeRO, FieldAgent, true)
	}
	b.readCopies()
	if b.covered("/run") {
		for _, w := range b.brokerWay() {
			b.clone(w.source, w.target, w.mode, "broker.file", false)
		}
	}
	for _, m := range b.binds {
		if m.Mode != spec.MountTmpfs {
			b.clone(m.Source.Real, m.Target, bindMode(m.Mode), m.Field, false)
		}
	}
	if b.covered("/run") {
		for _, k := range b.h.Keep {
			if b.covered(k.Real) {
				b.clone(k.Real, k.Path, ModeRO, FieldPrivate, false)
			}
		}
	}
}

func bindMode(m spec.MountMode) Mode {
	if m == spec.MountRW {
		return ModeRW
	}
	return ModeRO
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
	if wd := b.r.WorkingDir.Real; b.showsWorkDir() {
		b.target(wd, Dir)
		b.put(wd, wd, Dir, ModeRO, "working_dir", false)
	}
	for _, w := range b.writables() {
		b.target(w.Real, pathKind(w))
		b.pinOwn(w)
		b.put(w.Real, w.Real, pathKind(w), ModeRW, w.Field, false)
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
func (b *mounter) links(p spec.Path) {
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
func (b *mounter) placeMounts() {
	for i := range b.binds {
		m := &b.binds[i]
		b.mountPoint(m, bindKind(m))
		if m.Mode == spec.MountTmpfs {
			b.op(Mount{Op: OpTmpfs, Target: b.in(m.Target), Perm: 0o755, Size: b.tmpfsSize(), For: m.Field, Why: m.Label})
			for path := range b.made {
				if under(path, m.Target) {
					delete(b.made, path)
				}
			}
			b.layOwn(m.Target, m.Field)
			continue
		}
		if m.Mode == spec.MountRO && m.Source.Real == m.Target { // it keeps what is there, which is to stay there
			b.pinsAbove(m.Target, m.Target)
		}
		b.put(m.Source.Real, m.Target, bindKind(m), bindMode(m.Mode), m.Field, false)
	}
}
