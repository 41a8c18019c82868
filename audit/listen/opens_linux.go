package listen

import "golang.org/x/sys/unix"

// OpenInRoot is the reported action of an open for writing with RESOLVE_IN_ROOT, which
// the listener always denies.
const OpenInRoot = "open with RESOLVE_IN_ROOT"

// openCall gives the positions of an open's arguments: flags, or how for a struct
// open_how; -1 for none. With neither the flags are always fixed.
type openCall struct {
	at         pathArg
	flags, how int8
	fixed      uint64
	action     string // as reported for a file that exists
}

// openCalls are those of seccomp.NotifyOpens, and openat2. The kernel refuses truncate
// where it would refuse to open for writing.
var openCalls = map[string]openCall{
	"open":     {at: pathArg{-1, 0}, flags: 1, how: -1, action: "open for writing"},
	"openat":   {at: pathArg{0, 1}, flags: 2, how: -1, action: "open for writing"},
	"creat":    {at: pathArg{-1, 0}, flags: -1, how: -1, fixed: unix.O_CREAT | unix.O_WRONLY | unix.O_TRUNC, action: "open for writing"},
	"openat2":  {at: pathArg{0, 1}, flags: -1, how: 2, action: "open for writing"},
	"truncate": {at: pathArg{-1, 0}, flags: -1, how: -1, fixed: unix.O_WRONLY, action: "truncate"},
}

// rule decides an open for writing: it denies the creation of protected paths, and
// reports calls that the kernel is going to deny.
func (o *opener) rule(c *openCall) {
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
	case writes && o.rules.bare(&d):
		o.deny(ByName, c.action, d.text())
		return
	}
	told := &d
	if d.odd { // claude, for one, writes as /proc/self/fd/7/name
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
		o.makes()
	}
	switch {
	case told.exists && (exclusive || !writes): // EEXIST, or only read
	case told.exists:
		o.opens(told, c.action)
	case makes || !told.ok:
		o.opens(told, "create")
	}
}

// opens records that a call was continued which may write the file d.
func (w *writes) opens(d *entry, action string) {
	switch {
	case w.opened == nil || w.reported || d.exists && d.kind != unix.S_IFREG:
	case d.ok:
		if _, kept := w.rules.Host(text(d.path)); kept {
			w.opened.Add(text(d.path), action)
		}
	case d.odd || d.unread:
		w.opened.Omit()
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
