package listen

import (
	"golang.org/x/sys/unix"

	"sbx/audit/guard"
)

// A bind mount that protects a file is detached when the host replaces that file, perhaps
// between the listener's check and the kernel's. So the listener itself denies, by path
// alone, each call that the kernel would deny because of such a mount.

// guardsOpen answers an open or a truncate that could change a guarded file. It returns
// false if it has not answered the call.
func (o *opener) guardsOpen(c *openCall, d *entry, flags uint64) bool {
	g, _ := o.rules.guard(d)
	if g < guard.Fixed {
		return false
	}
	e := unix.EROFS
	makes := flags&unix.O_CREAT != 0
	writes := flags&unix.O_ACCMODE != unix.O_RDONLY || flags&unix.O_TRUNC != 0
	temporary := flags&unix.O_TMPFILE == unix.O_TMPFILE
	switch isDir := d.kind == unix.S_IFDIR; {
	case !d.exists && (g == guard.Fixed || !makes): // its creation is denied elsewhere, or ENOENT
		return false
	case !d.exists:
		o.report(ReadOnly, "create", d.text())
	case makes && flags&unix.O_EXCL != 0 && !temporary:
		e = unix.EEXIST
	case !writes:
		return false
	case isDir && temporary:
		o.report(ReadOnly, "create", d.text())
	case isDir:
		e = unix.EISDIR
	case flags&unix.O_DIRECTORY != 0:
		e = unix.ENOTDIR
	case d.kind == unix.S_IFLNK:
		e = unix.ELOOP
	case d.kind != unix.S_IFREG: // a FIFO can be written on a read-only mount
		return false
	case accessAt(d.dir, d.name, unix.W_OK) == unix.EACCES:
		e = unix.EACCES
	default:
		o.report(ReadOnly, c.action, d.text())
	}
	o.fail(e)
	return true
}

// guardsName answers a call that would create, rename or remove a guarded path, or that
// would give a guarded file a second name through which it could be written. It returns
// false if it has not answered the call.
func (n *namer) guardsName(c *nameCall, made, taken, from *entry) bool {
	gm, in := n.rules.guard(made)
	gt, out := n.rules.guard(taken)
	gf, _ := n.rules.guard(from)
	var cause Cause
	var e unix.Errno
	d := made
	switch {
	case from.unread && len(n.rules.Views) > 0:
		cause, e = ByName, unix.EPERM
	case gf >= guard.Fixed && from.exists && from.kind != unix.S_IFDIR && gm != guard.Within:
		n.fail(unix.EXDEV)
		return true
	case gm < guard.Pinned && gt < guard.Pinned:
		return false
	case c.takes == nowhere: // creating a path that exists answers EEXIST
		if gm != guard.Within || made.exists {
			return false
		}
		cause, e = ReadOnly, unix.EROFS
	case c.makes != nowhere && in != out:
		if cause, e = ReadOnly, unix.EXDEV; gm != guard.Within {
			if d = taken; gt == guard.Pinned { // writable, but it must not be moved
				cause = ByName
			}
		}
	case gt == guard.Within:
		cause, e, d = ReadOnly, unix.EROFS, taken
	case !taken.exists:
		return false
	case gt >= guard.Pinned && c.makes == nowhere:
		if _, e = n.asFolder(c, taken); e != 0 {
			n.fail(e)
			return true
		}
		cause, e, d = ByName, unix.EBUSY, taken
	case gt >= guard.Pinned && n.rules.stops(made):
		return false
	case gt >= guard.Pinned:
		cause, e, d = ByName, unix.EBUSY, taken
	case !made.exists, c.swap >= 0 && n.call.Args[c.swap]&unix.RENAME_NOREPLACE != 0, made.file == taken.file:
		return false // its creation is denied elsewhere, or EEXIST, or the call does nothing
	default:
		cause, e = ByName, unix.EBUSY
	}
	n.report(cause, c.action, d.text())
	n.fail(e)
	return true
}
