package launch

import (
	"cmp"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

const (
	atEmpty = unix.AT_EMPTY_PATH
	atTree  = unix.AT_RECURSIVE

	treeFlags = unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | atEmpty | atTree
	moveFlags = unix.MOVE_MOUNT_F_EMPTY_PATH | unix.MOVE_MOUNT_T_EMPTY_PATH
)

// mounts writes the steps of a Plan's mount operations. Each path is opened once by
// openat2, without following a symlink, and then mounted by its descriptor. A path that was
// replaced by a symlink since it was resolved fails with ELOOP and is not mounted.
func (l *mountList) mounts(ops []wrap.Mount, devices []Device) {
	held, modes := map[int]Slot{}, map[int]wrap.Mode{}
	for i := range ops {
		m := &ops[i]
		l.on, l.field = m.Target, m.For
		switch m.Op {
		case wrap.OpPrivate:
			l.add(unix.SYS_MOUNT, "mount", text("none"), text("/"), num(0), num(unix.MS_REC|unix.MS_PRIVATE))
		case wrap.OpScratch, wrap.OpTmpfs:
			l.tmpfs(m)
		case wrap.OpMkdir:
			l.add(unix.SYS_MKDIRAT, "mkdirat", fdcwd, text(m.Target), num(int(m.Perm))).Expected = Errno(unix.EEXIST)
		case wrap.OpFile:
			l.add(unix.SYS_MKNODAT, "mknodat", fdcwd, text(m.Target), num(unix.S_IFREG|int(m.Perm))).Expected = Errno(unix.EEXIST)
		case wrap.OpWhiteout:
			l.add(unix.SYS_MKNODAT, "mknodat", fdcwd, text(m.Target), num(unix.S_IFCHR))
		case wrap.OpSymlink:
			l.add(unix.SYS_SYMLINKAT, "symlinkat", text(m.Source), fdcwd, text(m.Target)).Expected = Errno(unix.EEXIST)
		case wrap.OpContent:
			l.create(m.Target, m.Source, m.Perm)
		case wrap.OpClone:
			l.on = m.Source
			from := l.open(m.Source)
			first := len(l.steps) - 1
			held[m.Slot], modes[m.Slot] = l.clone(from, m.Mode), m.Mode
			l.close(from)
			l.allowMissing(m, first)
		case wrap.OpAttach:
			to := l.open(m.Target)
			first := len(l.steps) - 1
			l.move(held[m.Slot], to)
			moved := len(l.steps) - 1
			l.remountAttached(held[m.Slot], modes[m.Slot])
			if m.Soft { // the clone may have been left out
				for k := moved; k < len(l.steps); k++ {
					l.steps[k].Expected = Errno(unix.EBADF)
				}
			}
			l.close(to)
			l.allowMissing(m, first)
			l.close(held[m.Slot])
			if m.Soft {
				l.steps[len(l.steps)-1].Expected = Errno(unix.EBADF)
			}
			delete(held, m.Slot)
			l.openDevice(m.Target, devices)
		case wrap.OpBind:
			l.bind(m)
			l.openDevice(m.Target, devices)
		case wrap.OpPin:
			pin := *m
			pin.Source, pin.Mode = m.Target, wrap.ModeKeep
			l.bind(&pin)
		case wrap.OpReadOnly:
			l.readOnly(m.Target, true)
		case wrap.OpProc:
			l.add(unix.SYS_MOUNT, "mount", text("proc"), text(m.Target), text("proc"),
				num(unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC))
		case wrap.OpDevpts:
			l.add(unix.SYS_MOUNT, "mount", text("devpts"), text(m.Target), text("devpts"),
				num(unix.MS_NOSUID|unix.MS_NOEXEC), text("newinstance,ptmxmode=0666,mode=620"))
			l.terminals(m)
		case wrap.OpOverlay:
			l.overlay(m)
		case wrap.OpOpen:
			if fixed, ok := l.mask(m.Slot); ok {
				l.openAt(fixed, m.Source)
				held[m.Slot] = fixed
				break
			}
			held[m.Slot] = l.open(m.Source)
		case wrap.OpPlace:
			l.place(m, held[m.Slot])
		case wrap.OpSeal:
			l.readOnly(m.Target, false)
		case wrap.OpRead:
			held[m.Slot] = l.read(m)
		case wrap.OpCopy:
			l.copy(m, held[m.Slot])
			delete(held, m.Slot)
		case wrap.OpPivot:
			l.pivot(m.Target)
		}
		l.flush()
	}
	for slot := 0; len(held) > 0 && slot < 256; slot++ { // in order, so that equal Plans give equal steps
		if s, ok := held[slot]; ok {
			if _, stays := l.mask(slot); !stays {
				l.close(s)
			}
			delete(held, slot)
		}
	}
	l.on, l.field = "", ""
}

// mask returns the fixed slot for a Plan's slot that the supervisor also gets.
func (l *mountList) mask(slot int) (Slot, bool) {
	if slot == wrap.SlotScratch {
		return slotScratch, true
	}
	i := slices.Index(l.masks, slot)
	return slotMask + Slot(max(i, 0)), i >= 0
}

// create creates a file with the given content, without write permission by default.
func (l *mountList) create(path, content string, perm uint32) {
	fd := l.slot()
	l.add(unix.SYS_OPENAT, "openat", fdcwd, text(path),
		num(unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC), num(int(cmp.Or(perm, 0o444)))).Save = fd
	l.add(unix.SYS_WRITE, "write", kept(fd), data(content), num(len(content)))
	l.close(fd)
}

// clone makes a detached copy of the mount tree at an O_PATH descriptor.
func (l *mountList) clone(from Slot, mode wrap.Mode) Slot { return l.cloneOf(from, "", mode) }

// cloneOf clones like clone, a name under the descriptor.
func (l *mountList) cloneOf(from Slot, name string, mode wrap.Mode) Slot {
	s := l.slot()
	l.add(unix.SYS_OPEN_TREE, "open_tree", kept(from), text(name), num(treeFlags)).Save = s
	if set := attributes(mode); set != 0 && !l.remount {
		l.setattr(kept(s), "", atEmpty|atTree, set)
	}
	return s
}

func (l *mountList) move(tree, to Slot) {
	l.add(unix.SYS_MOVE_MOUNT, "move_mount", kept(tree), text(""), kept(to), text(""), num(moveFlags))
}

// bind clones and moves. If source and target are the same path, it is opened once.
func (l *mountList) bind(m *wrap.Mount) {
	from := l.open(m.Source)
	first := len(l.steps) - 1
	tree := l.clone(from, m.Mode)
	to := from
	if m.Target != m.Source {
		to = l.open(m.Target)
	}
	l.move(tree, to)
	l.remountAttached(tree, m.Mode)
	l.close(tree)
	if to != from {
		l.close(to)
	}
	l.close(from)
	l.allowMissing(m, first)
}

// maskName returns the name of a mask's own directory inside the empty directory; "" for none.
func maskName(m *wrap.Mount) string {
	if m.Own == 0 {
		return ""
	}
	return strconv.Itoa(m.Own)
}

// place binds an open descriptor at a target. It creates the mask's own directory even if the
// target does not exist: it may exist when the mask is mounted again.
func (l *mountList) place(m *wrap.Mount, from Slot) {
	if m.Own != 0 && !slices.Contains(l.own, m.Own) {
		l.own = append(l.own, m.Own)
		l.add(unix.SYS_MKDIRAT, "mkdirat", kept(from), text(maskName(m)), num(0o755))
	}
	to := l.open(m.Target)
	first := len(l.steps) - 1
	tree := l.cloneOf(from, maskName(m), m.Mode)
	l.move(tree, to)
	l.remountAttached(tree, m.Mode)
	l.close(tree)
	l.close(to)
	l.allowMissing(m, first)
}

// allowMissing makes the steps from index first on optional if m is Soft: if that open
// returns ENOENT, all following steps up to here are skipped.
func (l *mountList) allowMissing(m *wrap.Mount, first int) {
	if !m.Soft {
		return
	}
	l.steps[first].Expected = Errno(unix.ENOENT)
	l.steps[first].Skip = uint8(len(l.steps) - 1 - first)
}

func (l *mountList) tmpfs(m *wrap.Mount) {
	opts := "mode=" + strconv.FormatUint(uint64(m.Perm), 8)
	if m.Size > 0 {
		opts += ",size=" + strconv.FormatInt(m.Size, 10)
	}
	l.add(unix.SYS_MOUNT, "mount", text("tmpfs"), text(m.Target), text("tmpfs"),
		num(unix.MS_NOSUID|unix.MS_NODEV), text(opts))
}

// pivot makes target the root and detaches the old root: pivot_root(2), "NOTES", with the
// same path for both.
func (l *mountList) pivot(target string) {
	l.add(unix.SYS_CHDIR, "chdir", text(target))
	l.add(unix.SYS_PIVOT_ROOT, "pivot_root", text("."), text("."))
	l.add(unix.SYS_UMOUNT2, "umount2", text("."), num(unix.MNT_DETACH))
	l.add(unix.SYS_CHDIR, "chdir", text("/"))
}
