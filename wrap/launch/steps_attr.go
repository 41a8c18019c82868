package launch

import (
	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// This file sets the flags of mounts: for a whole tree by mount_setattr(2) since Linux 5.12,
// otherwise for each mount by mount(2).
//
// mount(2) changes only mounts in the caller's namespace. So a bound tree is attached first
// and changed then, which is safe since the command does not run yet. The mounts in the tree
// are read from the kernel at that moment, and again afterwards (script.remount): a list from
// before the launch would not describe the new namespace.

const (
	sizeofMountAttr = 32 // MOUNT_ATTR_SIZE_VER0

	// MOUNT_ATTR_RDONLY, NOSUID and NODEV have the same numbers as MS_RDONLY, MS_NOSUID and
	// MS_NODEV of mount(2).
	quiet = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
)

// attributes returns the flags that a mode gives to the mounts of a tree.
func attributes(m wrap.Mode) uint64 {
	switch m {
	case wrap.ModeRO:
		return unix.MOUNT_ATTR_RDONLY | quiet
	case wrap.ModeRW:
		return quiet
	case wrap.ModeDevice: // a device can still be written; the flag denies changes such as chmod
		return unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID
	}
	return 0
}

func (l *mountList) setattr(dir Arg, path string, flags int, set uint64) {
	l.add(unix.SYS_MOUNT_SETATTR, "mount_setattr", dir, text(path), num(flags),
		data(words(set, 0, 0, 0)), num(sizeofMountAttr))
}

// readOnly makes the mount at path read-only; with tree also the mounts under it.
func (l *mountList) readOnly(path string, tree bool) {
	const set = unix.MOUNT_ATTR_RDONLY | quiet
	beneath := 0
	switch {
	case l.remount:
		at := l.open(path)
		if tree {
			beneath = 1
		}
		l.each(at, set, beneath)
		l.close(at)
		return
	case tree:
		beneath = atTree
	}
	l.setattr(fdcwd, path, beneath, set)
}

// remountAttached gives a tree that was just attached the flags that clone could not.
func (l *mountList) remountAttached(tree Slot, mode wrap.Mode) {
	if set := attributes(mode); set != 0 && l.remount {
		l.each(tree, set, 1)
	}
}

func (l *mountList) each(tree Slot, set uint64, beneath int) {
	s := l.special(DoEach, "remount each")
	s.Args = [6]Arg{kept(tree), word(set), num(beneath)}
}

// descriptors makes /proc/self/fd the current directory: a mount that is to be changed is
// then named by the number of its descriptor, so that no path is resolved again.
func (l *mountList) descriptors() {
	fd := l.openDescriptors()
	l.add(unix.SYS_FCHDIR, "fchdir", kept(fd))
	l.close(fd)
}

func (l *mountList) openDescriptors() Slot {
	l.on = "/proc/self/fd"
	fd := l.slot()
	l.add(unix.SYS_OPENAT, "openat", fdcwd, text(l.on), num(unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC)).Save = fd
	l.on = ""
	return fd
}

// remountStep returns the call that adds flags to the mount that path leads to. The call must name
// all existing flags: it would clear the others, or fail if the mount came from another user
// namespace (mount_namespaces(7), "locked"). It names no flag about access times, which leaves them
// unchanged.
func remountStep(path string, flags uintptr) Step {
	l := &list{}
	return *l.add(unix.SYS_MOUNT, "mount", text("none"), text(path), num(0), num(int(unix.MS_REMOUNT|unix.MS_BIND|flags)))
}
