package launch

import (
	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// How the flags of mounts are set: a tree at once by mount_setattr(2), from
// Linux 5.12, or each mount by itself.
//
// mount(2) changes a mount only where that is a part of the caller's namespace,
// so what is bound is attached first and changed then: nothing of the command
// runs yet. Which mounts lie under is asked of the kernel at that moment
// (script.remount), and asked again afterwards; what was known before the
// launch says nothing about the namespace that was made since.

const (
	sizeofMountAttr = 32 // MOUNT_ATTR_SIZE_VER0

	// MOUNT_ATTR_RDONLY, NOSUID and NODEV are the same numbers as MS_RDONLY and so
	// on, by which mount(2) calls them.
	quiet = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
)

// attributes are what the mounts of a tree get with a mode.
func attributes(m wrap.Mode) uint64 {
	switch m {
	case wrap.ModeRO:
		return unix.MOUNT_ATTR_RDONLY | quiet
	case wrap.ModeRW:
		return quiet
	case wrap.ModeDevice: // which may be written for all that: not changed, as chmod would
		return unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID
	}
	return 0
}

func (l *mountList) setattr(dir Arg, path string, flags int, set uint64) {
	l.add(unix.SYS_MOUNT_SETATTR, "mount_setattr", dir, text(path), num(flags),
		data(words(set, 0, 0, 0)), num(sizeofMountAttr))
}

// readOnly makes the mount at path read-only, and with tree those under.
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

// settle gives a tree that was just attached what clone could not.
func (l *mountList) remountAttached(tree Slot, mode wrap.Mode) {
	if set := attributes(mode); set != 0 && l.remount {
		l.each(tree, set, 1)
	}
}

func (l *mountList) each(tree Slot, set uint64, beneath int) {
	s := l.special(DoEach, "remount each")
	s.Args = [6]Arg{kept(tree), word(set), num(beneath)}
}

// descriptors makes the directory of the process's descriptors the current one: a
// mount that is to be changed is called by the number of a descriptor there, so
// that no path is walked once more.
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

// remountStep is the call that gives the mount that path leads to further flags.
// What is not named would be taken away, or be refused where the mount came from
// another user's namespace (mount_namespaces(7), "locked"); of the times of
// access nothing is named, which leaves them as they are.
func remountStep(path string, flags uintptr) Step {
	l := &list{}
	return *l.add(unix.SYS_MOUNT, "mount", text("none"), text(path), num(0), num(int(unix.MS_REMOUNT|unix.MS_BIND|flags)))
}
