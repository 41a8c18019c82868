package listen

import (
	"sbx/audit/guard"

	"golang.org/x/sys/unix"
)

// opener decides calls that open files for writing.
type opener struct {
	*paths
	writes
}

// decide answers an open for writing: it denies the creation of protected paths, and
// reports calls that the kernel is going to deny.
func (o *opener) decide(c *openCall) {
	flags, rooted, e := o.openFlags(c)
	if e != 0 {
		if e != unix.EFAULT { // not to be read
			if len(o.rules.Views) == 0 {
				o.proceed()
				return
			}
			e = unix.EPERM
		}
		o.fail(e)
		return
	}
	makes := flags&unix.O_CREAT != 0
	writes := flags&unix.O_ACCMODE != unix.O_RDONLY || flags&unix.O_TRUNC != 0
	if flags&unix.O_PATH != 0 || !makes && !writes {
		o.proceed()
		return
	}
	if rooted { // its absolute paths start at the descriptor, not at the sandbox's root
		path, e := o.readInto(o.argument(c.at).addr, o.work[0].path[:])
		if e == 0 {
			o.report(ByName, OpenInRoot, text(path))
		}
		o.fail(unix.EPERM)
		return
	}
	exclusive := makes && flags&unix.O_EXCL != 0
	how := follows
	if exclusive || flags&unix.O_NOFOLLOW != 0 {
		how = stays
	}
	d := o.entry(o.argument(c.at), &o.work[0], how)
	defer d.close()
	switch {
	case d.errno != 0:
		o.fail(d.errno)
		return
	case o.guardsOpen(c, &d, flags):
		return
	case makes && (!d.ok || !d.exists) && o.rules.stops(&d):
		o.deny(ByName, "create", d.text())
		return
	case writes && o.rules.unguarded(&d):
		o.deny(ByName, c.action, d.text())
		return
	}
	told := &d
	if d.odd { // claude, for example, writes as /proc/self/fd/7/name
		behind := o.entryByProc(o.argument(c.at), &o.work[1], how)
		defer behind.close()
		told = &behind
	}
	switch {
	case told.absent && makes: // without O_CREAT a missing directory says nothing about the sandbox
		o.report(OutOfView, "create", text(told.path))
	case !told.ok:
	case told.exists && flags&unix.O_TMPFILE == unix.O_TMPFILE: // a file in that directory
		if told.kind == unix.S_IFDIR && accessAt(told.dir, told.name, unix.W_OK) == unix.EROFS {
			o.report(ReadOnly, "create", told.text())
		}
	case told.exists && flags&unix.O_DIRECTORY != 0: // EISDIR or ENOTDIR
	case told.exists && writes && !exclusive && o.rules.readOnly(told):
		o.report(ReadOnly, c.action, told.text())
	case !told.exists && makes && o.rules.fixed(told):
		o.report(ReadOnly, "create", told.text())
	}
	if !makes {
		o.proceed()
	} else {
		o.proceedMaking()
	}
	switch {
	case told.exists && (exclusive || !writes): // EEXIST, or only read
	case told.exists:
		o.noteOpened(told, c.action)
	case makes || !told.ok:
		o.noteOpened(told, "create")
	}
}

// openFlags returns an open's flags. rooted reports RESOLVE_IN_ROOT: absolute paths
// start at the directory descriptor.
func (o *opener) openFlags(c *openCall) (flags uint64, rooted bool, e unix.Errno) {
	switch {
	case c.flags >= 0:
		return o.call.Args[c.flags], false, 0
	case c.how >= 0:
		how, e := o.readHow(o.call.Args[c.how])
		return how.Flags, how.Resolve&unix.RESOLVE_IN_ROOT != 0, e
	}
	return c.fixed, false, 0
}

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
