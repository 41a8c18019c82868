package wrap

import (
	"slices"

	"sbx/spec"
)

// These are the parts of the one scratch tmpfs. Every private directory is a bind of a part: a bind
// costs a third of a tmpfs.
const (
	partTmp    = "/tmp"
	partVarTmp = "/vartmp"
	partRun    = "/run"
	partDev    = "/dev"
	partHome   = "/home"
	partWork   = "/work"
	partRoot   = "/root"
	partEmpty  = "/empty" // an empty directory, laid over hidden directories
	partNone   = "/none"  // an empty file, laid over hidden files
)

// These slots hold the two masks; hold never returns them.
const (
	SlotEmpty = maxHeld + 1 // the directory
	slotNone  = maxHeld + 2
)

// SlotScratch holds the scratch tmpfs. The supervisor gets its descriptor to read the layers in it.
const SlotScratch = maxHeld + 3

// privates lists the directories that are the sandbox's own.
func (b *places) privates() {
	if b.r.Private || b.r.Visible {
		for _, dir := range []string{"/tmp", "/var/tmp", "/run"} {
			if b.prefix != "" || b.h.Kind(dir) == Dir {
				b.private = append(b.private, dir)
			}
		}
	}
	// Hidden directories in which the spec opens something become private directories. So does
	// sbx's state directory: an sbx inside can write its record there, and does not see the records
	// outside.
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

// openSecrets replaces each visible secret directory in which the spec opens something by a private
// directory, and shows the opened paths in it.
func (b *layers) openSecrets() {
	for _, dir := range b.opened {
		if b.opensAt[dir] == 0 || b.view.At(dir).Source != dir {
			continue // private from the start, or not in view
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
		b.coverKeeping(opened, func() {
			b.pinsAbove(dir, dir)
			b.add(item{how: itemOwned, path: dir, slot: b.opensAt[dir], perm: 0o700, field: FieldSecrets})
			b.private = append(b.private, dir)
		})
	}
}

// planted reports whether path leads through a link that a command of an earlier run may have left,
// also in the agent's own directories and in git directories.
func (b *places) planted(p spec.Path) bool {
	return b.r.Planted(&p) || slices.ContainsFunc(p.Links, func(l spec.Link) bool { return b.inWritable(l.Path) })
}

// part returns the scratch directory for a private directory, and its mode.
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

// scratchAt returns the directory on which the scratch tmpfs is mounted. If the host's root stays
// in place, this is a directory that a private one covers in the end.
func (b *layers) scratchAt() string {
	if b.prefix != "" {
		return b.plan.Root
	}
	for _, dir := range []string{"/tmp", "/var/tmp", "/run"} {
		if slices.Contains(b.private, dir) {
			return dir
		}
	}
	return "/proc" // the sandbox's own /proc will cover it
}

// scratch mounts the scratch tmpfs, whose parts become the private directories.
func (b *layers) scratch() {
	for _, dir := range b.opened {
		if !slices.Contains(b.private, dir) {
			b.opensAt[dir] = b.hold(fieldWrite)
		}
	}
	b.add(item{how: itemScratch})
}

// placeParts puts the private directories in place. If the host's root stays in place, the
// directory on which the scratch tmpfs is mounted comes last, because its private directory hides
// the tmpfs's other parts.
func (b *layers) placeParts() {
	place := func(target, part string, perm uint32) {
		b.mkdir(target, 0o755)
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
		b.mkdir(home, 0o700)
	}
}

// proc mounts the pid namespace's own /proc. Everything in it but the processes' directories
// becomes read-only, and the most dangerous files are masked: sysctl files check for uid 0, not for
// a capability, and kernel.core_pattern runs a program as root outside of every namespace
// (proc(5)). A caller who is not uid 0 cannot write most of these files anyway.
func (b *layers) proc() {
	b.mkdir("/proc", 0o555)
	b.add(item{how: itemProc, path: "/proc", field: FieldProcesses})
	if b.h.UID != 0 { // except those that everybody may write, like ns_last_pid
		b.closePart("/proc/sys", true, FieldProcesses, "")
		b.keepInGroups()
		return
	}
	if !b.restricted() && b.h.Kind("/sys") == Dir {
		b.add(item{path: "/sys", source: "/sys", kind: Dir, mode: ModeRO, field: FieldProcesses})
	}
	// Pid 1 shares the supervisor's memory, and some of its files change what belongs to both.
	b.closePart("/proc/1", true, FieldProcesses, "")
	for _, name := range b.h.ProcRO {
		b.closePart("/proc/"+name, true, FieldProcesses, "")
	}
	for _, name := range b.h.ProcMask {
		b.add(item{how: itemMasked, path: "/proc/" + name, soft: true, part: true, field: FieldProcesses})
	}
}
