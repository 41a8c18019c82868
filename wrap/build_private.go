package wrap

import (
	"slices"

	"sbx/spec"
)

// The parts of the one scratch tmpfs. All private directories are parts of it: a
// bind of a directory costs a third of what a tmpfs of its own does.
const (
	partTmp    = "/tmp"
	partVarTmp = "/vartmp"
	partRun    = "/run"
	partDev    = "/dev"
	partHome   = "/home"
	partWork   = "/work"
	partRoot   = "/root"
	partEmpty  = "/empty" // an empty directory, laid over what is hidden
	partNone   = "/none"  // an empty file, the same
)

// The slots of the two masks, beyond what hold hands out.
const (
	SlotEmpty = maxHeld + 1 // the directory
	slotNone  = maxHeld + 2
)

// SlotScratch is the scratch tmpfs, which the supervisor gets to look at the layers in it.
const SlotScratch = maxHeld + 3

// privates lists the directories that the sandbox has its own of.
func (b *places) privates() {
	if b.r.Private || b.r.Visible {
		for _, dir := range []string{"/tmp", "/var/tmp", "/run"} {
			if b.prefix != "" || b.h.Kind(dir) == Dir {
				b.private = append(b.private, dir)
			}
		}
	}
	// A hidden directory in which something is opened, and sbx's own state: an sbx
	// inside has a place for its record, and sees none of the records outside.
	hidden := slices.Clone(b.h.Removable)
	for _, s := range b.h.Secrets {
		if s.Kind == Dir {
			hidden = append(hidden, s.Real)
		}
	}
	for _, dir := range hidden {
		if (b.opens(dir) || dir == b.h.State) && !slices.Contains(b.opened, dir) {
			b.opened = append(b.opened, dir)
			if b.prefix == "" && !b.covered(dir) && !b.inWritable(dir) {
				b.private = append(b.private, dir)
			}
		}
	}
}

// openSecrets puts, where a secret directory shows in which something is opened, a
// private directory in its place, and that in it.
func (b *mounter) openSecrets() {
	for _, dir := range b.opened {
		if b.openedAt[dir] == 0 || b.view.At(dir).Source != dir {
			continue // a private directory from the start, or not in view
		}
		var opened []spec.Path
		var slots []int
		var modes []Mode
		outside := b.outside()
		for _, p := range slices.Concat(b.r.Read, b.r.Write, outside) {
			if p.Exists && p.Real != dir && under(p.Real, dir) && !b.planted(p) && !slices.ContainsFunc(opened, func(o spec.Path) bool { return under(p.Real, o.Real) }) {
				mode := ModeRO
				if b.inWritable(p.Real) && (slices.ContainsFunc(b.r.Write, func(w spec.Path) bool { return w.Field != "" && w.Real == p.Real }) ||
					slices.ContainsFunc(outside, func(o spec.Path) bool { return o.Real == p.Real })) {
					mode = ModeRW
				}
				slot := b.hold()
				b.op(Mount{Op: OpClone, Source: b.in(p.Real), Slot: slot, Mode: mode, For: p.Field})
				opened, slots, modes = append(opened, p), append(slots, slot), append(modes, mode)
			}
		}
		b.pinsAbove(dir, dir)
		b.op(Mount{Op: OpPlace, Slot: b.openedAt[dir], Target: b.in(dir), For: FieldSecrets})
		b.layOwn(dir, FieldSecrets)
		b.private = append(b.private, dir)
		for k, p := range opened {
			b.beneath(dir, p)
			b.op(Mount{Op: OpAttach, Slot: slots[k], Source: p.Real, Target: b.in(p.Real), For: p.Field})
			b.lay(p.Real, p.Real, pathKind(p), modes[k], p.Field)
		}
	}
}

// beneath makes a mount point for p in the private directory dir.
func (b *mounter) beneath(dir string, p spec.Path) {
	for i := len(dir) + 1; i < len(p.Real); i++ {
		if p.Real[i] == '/' {
			b.op(Mount{Op: OpMkdir, Target: b.in(p.Real[:i]), Perm: 0o700})
		}
	}
	if p.IsDir {
		b.op(Mount{Op: OpMkdir, Target: b.in(p.Real), Perm: 0o700})
	} else {
		b.op(Mount{Op: OpFile, Target: b.in(p.Real), Perm: 0o600})
	}
}

// opens tells whether the spec names something beneath dir, or mounts something
// there.
func (b *places) opens(dir string) bool {
	if b.onTop(dir) < 0 && slices.ContainsFunc(b.binds, func(m spec.MountAt) bool { return under(m.Target, dir) }) {
		return true
	}
	for _, l := range [][]spec.Path{b.r.Read, b.r.Write, b.outside()} {
		for _, p := range l {
			if p.Exists && p.Real != dir && under(p.Real, dir) && !b.planted(p) {
				return true
			}
		}
	}
	return false
}

// planted tells whether a path leads where it does by a link that a command of
// an earlier run may have left, the agent's own and git's directories counted.
func (b *places) planted(p spec.Path) bool {
	return b.r.Planted(&p) || slices.ContainsFunc(p.Links, func(l spec.Link) bool { return b.inWritable(l.Path) })
}

// part is the scratch directory that stands for a private directory, and its mode.
func (b *mounter) part(dir string) (string, uint32) {
	switch dir {
	case "/tmp":
		return partTmp, 0o1777
	case "/var/tmp":
		return partVarTmp, 0o1777
	case "/run":
		return partRun, 0o755
	}
	return "/secret" + itoa(slices.Index(b.opened, dir)), 0o700
}

// covered tells whether path lies in a directory that the sandbox has its own of.
func (b *places) covered(path string) bool {
	for _, dir := range b.private {
		if under(path, dir) {
			return true
		}
	}
	return under(path, "/proc") || b.ownDev(path)
}

// scratchAt is where the scratch tmpfs is mounted. In place it is a directory that
// the sandbox has its own of, which covers it in the end.
func (b *mounter) scratchAt() string {
	if b.prefix != "" {
		return b.plan.Root
	}
	for _, dir := range []string{"/tmp", "/var/tmp", "/run"} {
		if slices.Contains(b.private, dir) {
			return dir
		}
	}
	return "/proc" // which the sandbox's own covers
}

// scratch mounts the tmpfs, makes its parts and, in place, opens the two masks.
func (b *mounter) scratch() {
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
		mkdir(b.part(dir))
	}
	for i, dir := range b.opened {
		if part := "/secret" + itoa(i); !slices.Contains(b.private, dir) {
			mkdir(part, 0o700)
			b.openedAt[dir] = b.hold()
			b.op(Mount{Op: OpOpen, Source: at + part, Slot: b.openedAt[dir]})
		}
	}
	if b.prefix != "" {
		mkdir(partRoot, 0o755)
		mkdir(partHome, 0o700)
		mkdir(partWork, 0o755)
	}
}

// placeParts puts the private directories in place; in place of the host's /tmp
// last, which hides the scratch directory's other parts.
func (b *mounter) placeParts() {
	at := b.scratchAt()
	place := func(part, target string, f spec.Field) {
		b.folder(target, 0o755)
		b.op(Mount{Op: OpBind, Source: at + part, Target: b.in(target), For: f})
		b.layOwn(target, f)
	}
	place(partDev, "/dev", FieldPrivate)
	last := ""
	for _, dir := range b.private {
		part, _ := b.part(dir)
		if b.prefix == "" && dir == at {
			last = part
			continue
		}
		place(part, dir, FieldPrivate)
	}
	if b.r.Job != nil {
		place(partWork, "/work", FieldPrivate)
	}
	if last != "" {
		place(last, at, FieldPrivate)
	}
	if home := b.h.Home; home != "" && b.coveredStrictly(home) && !b.inWritable(home) {
		b.folder(home, 0o700)
	}
}

// proc mounts the pid namespace's own /proc. All but the processes' directories is
// read-only and the worst is masked: sysctl files ask for uid 0, not for a
// capability, and kernel.core_pattern is root code outside every namespace
// (proc(5)). A caller that is not uid 0 cannot write them anyway.
func (b *mounter) proc() {
	b.folder("/proc", 0o555)
	if b.prefix != "" { // the scratch directory goes with the old root; this one is covered, and stays
		b.masks(b.in("/proc"))
	}
	b.op(Mount{Op: OpProc, Target: b.in("/proc"), For: FieldProcesses})
	b.layOwn("/proc", FieldProcesses)
	if b.h.UID != 0 { // but for what everybody may, as ns_last_pid
		b.op(Mount{Op: OpBind, Source: b.in("/proc/sys"), Target: b.in("/proc/sys"), Mode: ModeRO, Soft: true, For: FieldProcesses})
		b.keepInGroups()
		return
	}
	if !b.restricted() && b.h.Kind("/sys") == Dir {
		b.op(Mount{Op: OpBind, Source: "/sys", Target: b.in("/sys"), Mode: ModeRO, For: FieldProcesses})
		b.lay("/sys", "/sys", Dir, ModeRO, FieldProcesses)
	}
	// Pid 1 shares the supervisor's memory, and with it some of what these set.
	b.op(Mount{Op: OpBind, Source: b.in("/proc/1"), Target: b.in("/proc/1"), Mode: ModeRO, Soft: true, For: FieldProcesses})
	for _, name := range b.h.ProcRO {
		path := b.in("/proc/" + name)
		b.op(Mount{Op: OpBind, Source: path, Target: path, Mode: ModeRO, Soft: true, For: FieldProcesses})
	}
	for _, name := range b.h.ProcMask {
		b.op(Mount{Op: OpPlace, Slot: slotNone, Target: b.in("/proc/" + name), Mode: ModeRO, Soft: true, For: FieldProcesses})
	}
}
