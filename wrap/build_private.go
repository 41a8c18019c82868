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
func (b *layers) openSecrets() {
	for _, dir := range b.opened {
		if b.opensAt[dir] == 0 || b.view.At(dir).Source != dir {
			continue // a private directory from the start, or not in view
		}
		var opened []item
		outside := b.outside()
		for _, p := range slices.Concat(b.r.Read, b.r.Write, outside) {
			if p.Exists && p.Real != dir && under(p.Real, dir) && !b.planted(p) && !slices.ContainsFunc(opened, func(o item) bool { return under(p.Real, o.path) }) {
				i := ofPath(p, ModeRO)
				if b.inWritable(p.Real) && (slices.ContainsFunc(b.r.Write, func(w spec.Path) bool { return w.Field != "" && w.Real == p.Real }) ||
					slices.ContainsFunc(outside, func(o spec.Path) bool { return o.Real == p.Real })) {
					i.mode = ModeRW
				}
				opened = append(opened, i)
			}
		}
		b.through(opened, func() {
			b.pinsAbove(dir, dir)
			b.add(item{how: itemOwned, path: dir, slot: b.opensAt[dir], perm: 0o700, field: FieldSecrets})
			b.private = append(b.private, dir)
		})
	}
}

// planted reports whether a path leads where it does by a link that a command of
// an earlier run may have left, the agent's own and git's directories counted.
func (b *places) planted(p spec.Path) bool {
	return b.r.Planted(&p) || slices.ContainsFunc(p.Links, func(l spec.Link) bool { return b.inWritable(l.Path) })
}

// part is the scratch directory that stands for a private directory, and its mode.
func (b *layers) part(dir string) (string, uint32) {
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

// scratchAt is where the scratch tmpfs is mounted. In place it is a directory that
// the sandbox has its own of, which covers it in the end.
func (b *layers) scratchAt() string {
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

// scratch is the tmpfs that the sandbox's own directories are parts of.
func (b *layers) scratch() {
	for _, dir := range b.opened {
		if !slices.Contains(b.private, dir) {
			b.opensAt[dir] = b.hold(fieldWrite)
		}
	}
	b.add(item{how: itemScratch})
}

// placeParts puts the private directories in place; in place of the host's /tmp
// last, which hides the scratch directory's other parts.
func (b *layers) placeParts() {
	place := func(target, part string, perm uint32) {
		b.folder(target, 0o755)
		b.add(item{how: itemOwned, path: target, source: part, perm: perm, field: FieldPrivate})
	}
	place("/dev", partDev, 0o755)
	for _, last := range [...]bool{false, true} {
		for _, dir := range b.private {
			if last == (b.prefix == "" && dir == b.scratchAt()) {
				part, perm := b.part(dir)
				place(dir, part, perm)
			}
		}
	}
	if b.r.Job != nil {
		place("/work", partWork, 0o755)
	}
	if home := b.h.Home; home != "" && b.coveredStrictly(home) && !b.inWritable(home) {
		b.folder(home, 0o700)
	}
}

// proc mounts the pid namespace's own /proc. All but the processes' directories is
// read-only and the worst is masked: sysctl files ask for uid 0, not for a
// capability, and kernel.core_pattern is root code outside every namespace
// (proc(5)). A caller that is not uid 0 cannot write them anyway.
func (b *layers) proc() {
	b.folder("/proc", 0o555)
	b.add(item{how: itemProc, path: "/proc", field: FieldProcesses})
	if b.h.UID != 0 { // but for what everybody may, as ns_last_pid
		b.closePart("/proc/sys", true, FieldProcesses, "")
		b.keepInGroups()
		return
	}
	if !b.restricted() && b.h.Kind("/sys") == Dir {
		b.add(item{path: "/sys", source: "/sys", kind: Dir, mode: ModeRO, field: FieldProcesses})
	}
	// Pid 1 shares the supervisor's memory, and with it some of what these set.
	b.closePart("/proc/1", true, FieldProcesses, "")
	for _, name := range b.h.ProcRO {
		b.closePart("/proc/"+name, true, FieldProcesses, "")
	}
	for _, name := range b.h.ProcMask {
		b.add(item{how: itemMasked, path: "/proc/" + name, soft: true, part: true, field: FieldProcesses})
	}
}
