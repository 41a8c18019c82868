package wrap

import (
	"slices"

	"sbx/spec"
)

// The parts of the one scratch tmpfs. All private folders are parts of it: a
// bind of a folder costs a third of what a tmpfs of its own does.
const (
	partTmp    = "/tmp"
	partVarTmp = "/vartmp"
	partRun    = "/run"
	partDev    = "/dev"
	partHome   = "/home"
	partWork   = "/work"
	partRoot   = "/root"
	partEmpty  = "/empty" // an empty folder, laid over what is hidden
	partNone   = "/none"  // an empty file, the same
)

// The slots of the two masks, beyond what hold hands out.
const (
	slotEmpty = maxHeld + 1
	slotNone  = maxHeld + 2
)

// privates lists the folders that the sandbox has its own of.
func (b *builder) privates() {
	if !b.r.Private && !b.r.Visible {
		return
	}
	for _, dir := range []string{"/tmp", "/var/tmp", "/run"} {
		if b.prefix != "" || b.h.Kind(dir) == Dir {
			b.private = append(b.private, dir)
		}
	}
	// A secret folder in which something is opened, and sbx's own state: an sbx
	// inside has a place for its record, and sees none of the records outside.
	for _, s := range b.h.Secrets {
		if s.Kind == Dir && (b.opens(s.Real) || s.Path == b.h.State) && !b.covered(s.Real) && b.prefix == "" {
			b.private = append(b.private, s.Real)
			b.opened = append(b.opened, s.Real)
		}
	}
}

// opens tells whether the spec names something beneath dir.
func (b *builder) opens(dir string) bool {
	for _, l := range [][]spec.Path{b.r.Read, b.r.Write} {
		for _, p := range l {
			if p.Exists && p.Real != dir && under(p.Real, dir) {
				return true
			}
		}
	}
	return false
}

// part is the scratch folder that stands for a private folder, and its mode.
func (b *builder) part(dir string) (string, uint32) {
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

// ownDev tells whether the sandbox has a /dev of its own: wherever the host's
// would be made read-only, and its devices with it.
func (b *builder) ownDev() bool { return b.restricted() }

// covered tells whether path lies in a folder that the sandbox has its own of.
func (b *builder) covered(path string) bool {
	for _, dir := range b.private {
		if under(path, dir) {
			return true
		}
	}
	return under(path, "/proc") || b.ownDev() && under(path, "/dev")
}

// scratchAt is where the scratch tmpfs is mounted. In place it is a folder that
// one of its parts covers in the end, or that is uncovered again.
func (b *builder) scratchAt() string {
	if b.prefix != "" {
		return b.plan.Root
	}
	for _, dir := range []string{"/tmp", "/var/tmp", "/run"} {
		if b.h.Kind(dir) == Dir {
			return dir
		}
	}
	return "/proc"
}

// scratch mounts the tmpfs, makes its parts and opens the two masks.
func (b *builder) scratch() {
	at := b.scratchAt()
	b.op(Mount{Op: OpScratch, Target: at, Perm: 0o755})
	mkdir := func(part string, perm uint32) { b.op(Mount{Op: OpMkdir, Target: at + part, Perm: perm}) }
	mkdir(partEmpty, 0o555)
	b.op(Mount{Op: OpFile, Target: at + partNone, Perm: 0o444})
	b.op(Mount{Op: OpOpen, Source: at + partEmpty, Slot: slotEmpty})
	b.op(Mount{Op: OpOpen, Source: at + partNone, Slot: slotNone})
	if b.ownDev() {
		mkdir(partDev, 0o755)
	}
	for _, dir := range b.private {
		mkdir(b.part(dir))
	}
	if b.prefix != "" {
		mkdir(partRoot, 0o755)
		mkdir(partHome, 0o700)
		mkdir(partWork, 0o755)
	}
}

// placeParts puts the private folders in place; in place of the host's /tmp
// last, which hides the scratch folder's other parts.
func (b *builder) placeParts() {
	at := b.scratchAt()
	place := func(part, target string, f spec.Field) {
		b.folder(target, 0o755)
		b.op(Mount{Op: OpBind, Source: at + part, Target: b.in(target), For: f})
	}
	if b.ownDev() {
		place(partDev, "/dev", FieldPrivate)
	}
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

// placeHome gives an empty root a private home, before anything in it is shown.
func (b *builder) placeHome() {
	home := b.h.Home
	if home == "" || home == "/" || b.inView(home) || b.covered(home) {
		return
	}
	b.folder(home, 0o755)
	b.op(Mount{Op: OpBind, Source: b.scratchAt() + partHome, Target: b.in(home), For: FieldPrivate})
}

// deviceLinks are the links of /dev that programs expect.
var deviceLinks = [...][2]string{
	{"/dev/fd", "/proc/self/fd"}, {"/dev/stdin", "/proc/self/fd/0"}, {"/dev/stdout", "/proc/self/fd/1"},
	{"/dev/stderr", "/proc/self/fd/2"}, {"/dev/ptmx", "pts/ptmx"},
}

// dev fills the private /dev: the harmless devices, a devpts of its own, shm.
func (b *builder) dev() {
	if !b.ownDev() {
		return
	}
	for _, d := range b.h.Devices {
		b.op(Mount{Op: OpFile, Target: b.in(d.Path), Perm: 0o666})
		b.put(d.Real, d.Path, ModeDevice, FieldPrivate, false)
	}
	for _, l := range deviceLinks {
		b.op(Mount{Op: OpSymlink, Source: l[1], Target: b.in(l[0])})
	}
	b.op(Mount{Op: OpMkdir, Target: b.in("/dev/shm"), Perm: 0o1777})
	b.op(Mount{Op: OpMkdir, Target: b.in("/dev/pts"), Perm: 0o755})
	b.op(Mount{Op: OpDevpts, Target: b.in("/dev/pts")})
}

// proc mounts the pid namespace's own /proc. All but the processes' folders is
// read-only and the worst is masked: sysctl files ask for uid 0, not for a
// capability, and kernel.core_pattern is root code outside every namespace
// (proc(5)). A caller that is not uid 0 cannot write them anyway.
func (b *builder) proc() {
	b.folder("/proc", 0o555)
	b.op(Mount{Op: OpProc, Target: b.in("/proc"), For: FieldProcesses})
	if b.h.UID != 0 {
		return
	}
	for _, name := range b.h.ProcRO {
		path := b.in("/proc/" + name)
		b.op(Mount{Op: OpBind, Source: path, Target: path, Mode: ModeRO, Soft: true, For: FieldProcesses})
	}
	for _, name := range b.h.ProcMask {
		b.op(Mount{Op: OpPlace, Slot: slotNone, Target: b.in("/proc/" + name), Mode: ModeRO, Soft: true, For: FieldProcesses})
	}
}

// placeRun fills the private /run: what of the host's stays, a lock folder and
// the users' own.
func (b *builder) placeRun() {
	if len(b.private) == 0 || !b.covered("/run") {
		return
	}
	for _, k := range b.h.Keep {
		b.folder(parent(k.Path), 0o755)
		b.target(k.Path, k.Kind)
		b.put(k.Real, k.Path, ModeRO, FieldPrivate, true)
	}
	b.folder(parent(ParentPath), 0o755)
	b.op(Mount{Op: OpContent, Source: string(b.parentOf().AppendJSON(nil)), Target: b.in(ParentPath)})
	b.op(Mount{Op: OpBind, Source: b.in(parent(ParentPath)), Target: b.in(parent(ParentPath)), Mode: ModeRO,
		Why: "what holds here is nobody's to change"})
	b.op(Mount{Op: OpMkdir, Target: b.in("/run/lock"), Perm: 0o1777})
	b.folder("/run/user", 0o755)
	for _, uid := range b.h.Users {
		b.op(Mount{Op: OpMkdir, Target: b.in("/run/user/" + itoa(uid)), Perm: 0o700})
	}
}
