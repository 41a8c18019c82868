package listen

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// spot says which of a call's arguments are a descriptor and a path. dir is -1
// for a path that counts from the current folder, path -1 for none.
type spot struct{ dir, path int8 }

var nowhere = spot{-1, -1}

// nameCall is a call that makes a name, takes one away, or both.
type nameCall struct {
	makes, takes spot
	swap         int8 // the argument with RENAME_EXCHANGE; -1 for none
	copies       spot // what gets a further name, and not another place
	action       string
}

// nameCalls are those of seccomp.NotifyNames and NotifyRefused.
var nameCalls = map[string]nameCall{
	"mkdir":     {spot{-1, 0}, nowhere, -1, nowhere, makeFolder},
	"mkdirat":   {spot{0, 1}, nowhere, -1, nowhere, makeFolder},
	"mknod":     {spot{-1, 0}, nowhere, -1, nowhere, "create"},
	"mknodat":   {spot{0, 1}, nowhere, -1, nowhere, "create"},
	"symlink":   {spot{-1, 1}, nowhere, -1, nowhere, makeLink},
	"symlinkat": {spot{1, 2}, nowhere, -1, nowhere, makeLink},
	"link":      {spot{-1, 1}, nowhere, -1, spot{-1, 0}, makeLink},
	"linkat":    {spot{2, 3}, nowhere, -1, spot{0, 1}, makeLink},
	"rename":    {spot{-1, 1}, spot{-1, 0}, -1, nowhere, "rename"},
	"renameat":  {spot{2, 3}, spot{0, 1}, -1, nowhere, "rename"},
	"renameat2": {spot{2, 3}, spot{0, 1}, 4, nowhere, "rename"},
	"unlink":    {nowhere, spot{-1, 0}, -1, nowhere, "remove"},
	"unlinkat":  {nowhere, spot{0, 1}, -1, nowhere, "remove"},
	"rmdir":     {nowhere, spot{-1, 0}, -1, nowhere, removeFolder},
}

// What some of them do.
const (
	makeLink     = "create a link"
	makeFolder   = "create a folder"
	removeFolder = "remove a folder"
)

// TakesName tells whether an action removes or replaces a name, for which the folder
// must be writable that the name is in.
func TakesName(action string) bool {
	return action == "rename" || action == "remove" || action == removeFolder
}

// names rules on a call that makes or takes a name.
func (l *Listener) names(c *nameCall) {
	swaps := c.swap >= 0 && l.call.Args[c.swap]&unix.RENAME_EXCHANGE != 0
	var made, taken landing
	if c.makes != nowhere {
		made = l.land(l.argument(c.makes), &l.work[0], false)
		defer made.close()
	}
	if c.takes != nowhere {
		taken = l.land(l.argument(c.takes), &l.work[1], false)
		defer taken.close()
	}
	for _, d := range []*landing{&made, &taken} {
		if d.errno != 0 {
			l.n.Fail(l.FD, d.errno)
			return
		}
	}
	// What is there already answers EEXIST, but to what replaces it.
	replaces := c.takes != nowhere
	for _, d := range []*landing{&made, &taken} {
		if d == &taken && !swaps || d.exists && !replaces || !l.stops(d) || c.action == makeFolder && l.mayMake(d) {
			continue
		}
		l.report(ByName, c.action, d.text())
		l.n.Fail(l.FD, unix.EPERM)
		return
	}
	if c.makes == nowhere && l.removes(c, &taken) {
		return
	}
	l.lookBehind(c, &made, &taken)
	if d := l.plants(c, &made, &taken, swaps); d != nil {
		l.report(ByName, c.action, d.text())
		l.n.Fail(l.FD, unix.EPERM)
		return
	}
	l.foresee(c, &made, &taken)
	l.proceed()
}

// foresee reports what the kernel is going to refuse.
func (l *Listener) foresee(c *nameCall, made, taken *landing) {
	gone := c.takes != nowhere && !taken.exists
	replaces := c.takes != nowhere && made.exists
	switch {
	case gone: // ENOENT, whatever else holds
	case replaces && made.file == taken.file: // nothing is done, and that succeeds (rename(2))
	case taken.exists && taken.mounted:
		l.report(ByName, c.action, taken.text())
	case replaces && made.mounted:
		l.report(ByName, c.action, made.text())
	case (!made.exists || replaces) && l.fixed(made):
		l.report(ReadOnly, c.action, made.text())
	case l.fixed(taken):
		l.report(ReadOnly, c.action, taken.text())
	}
}

// fixed tells whether nothing can be made or removed where a name lands.
func (l *Listener) fixed(d *landing) bool {
	return d.ok && (access(d.dir, unix.W_OK) == unix.EROFS || l.Closed(d.text()) && access(d.dir, unix.W_OK) == 0)
}

// argument is a path as a call's arguments have it.
type argument struct {
	dirfd int32
	addr  uint64
}

func (l *Listener) argument(s spot) argument {
	a := argument{dirfd: unix.AT_FDCWD, addr: l.call.Args[s.path]}
	if s.dir >= 0 {
		a.dirfd = int32(l.call.Args[s.dir])
	}
	return a
}

// landing is where a name would come into being or go.
type landing struct {
	ok      bool   // dir and path are known
	dir     int    // the folder that it is in (O_PATH)
	path    []byte // the whole path inside, a NUL at the end
	base    int    // where the name begins in path
	exists  bool
	file    node   // what is there
	kind    uint32 // its S_IFMT
	onDisk  bool   // and the folder is on the same file system, which has a device
	mounted bool   // something is mounted on it: it can be neither replaced nor removed
	// unread: the caller's memory or descriptor is not to be read. odd: the way
	// leads through a link of /proc, or else is not the supervisor's to follow,
	// and name is all that is known.
	unread, odd bool
	// errno is why the path cannot be read by anybody: it is answered. The call
	// may not go on, since the kernel reads some memory that others cannot
	// (memfd_secret(2), pages that may only be written).
	errno unix.Errno
	name  []byte // a NUL at the end
}

// scratch is where a path is worked on, so that a call costs no memory.
type scratch struct {
	path  [pathMax]byte       // as the caller has it
	next  [2*pathMax + 1]byte // where a link leads
	dir   [pathMax]byte       // the folder that the last name is in
	whole [pathMax + nameMax + 2]byte
	name  [nameMax + 2]byte
}

// nameMax is NAME_MAX: the longest name, without its NUL.
const nameMax = 255

func (d *landing) close() {
	if d.ok {
		unix.Close(d.dir)
	}
}

func (d *landing) text() string {
	if d.ok {
		return text(d.path)
	}
	if len(d.name) == 0 {
		return ""
	}
	return text(d.name)
}

// maxFollowed is how many links at the end of a path are followed: no fewer than
// the kernel would (MAXSYMLINKS of linux/namei.h).
const maxFollowed = 40

// land finds where a path's last name lies. follow goes on where that name is a
// link, as an open that creates does.
func (l *Listener) land(a argument, b *scratch, follow bool) landing {
	path, e := l.readInto(a.addr, b.path[:])
	switch e {
	case 0:
	case unix.EFAULT, unix.ENAMETOOLONG:
		return landing{errno: e}
	default:
		return landing{unread: true}
	}
	return l.landAt(a.dirfd, path, b, follow)
}

// landAt is land for a path that was read.
func (l *Listener) landAt(dirfd int32, path []byte, b *scratch, follow bool) landing {
	for links := 0; ; links++ {
		d := l.landOnce(dirfd, path, b)
		if !d.ok || !d.exists || !follow || links >= maxFollowed {
			return d
		}
		next, isLink := l.target(&d, b)
		if !isLink {
			return d
		}
		d.close()
		if len(next) > pathMax { // and yet the kernel may follow it, from the link's folder
			return landing{odd: true, name: b.lastName(next)}
		}
		path, dirfd = next, unix.AT_FDCWD
	}
}

// landOnce is land without following the last name.
func (l *Listener) landOnce(dirfd int32, path []byte, b *scratch) landing {
	end := len(path) - 1
	for end > 0 && path[end-1] == '/' {
		end--
	}
	cut := bytes.LastIndexByte(path[:end], '/') + 1
	name := path[cut:end]
	if len(name) == 0 || len(name) > nameMax || string(name) == "." || string(name) == ".." {
		return landing{} // never a name that is made
	}
	name = append(append(b.name[:0], name...), 0)
	dir := append(b.dir[:0], path[:cut]...)
	if cut == 0 {
		dir = append(dir, '.')
	}
	f := l.resolve(dirfd, append(dir, 0), false)
	if f.errno != 0 {
		return landing{odd: !f.certain, name: name}
	}
	return l.named(f.fd, name, b)
}

// named is the landing of a name in a folder, whose descriptor it takes over.
func (l *Listener) named(dir int, name []byte, b *scratch) landing {
	d := landing{ok: true, dir: dir, name: name}
	n := l.pathOf(dir, b.whole[:pathMax])
	d.stands() // what is on a device is not in /proc
	if n <= 0 || b.whole[0] != '/' || bytes.HasSuffix(b.whole[:n], []byte(" (deleted)")) || !d.onDisk && isProc(dir) {
		unix.Close(dir)
		return landing{odd: true, name: name}
	}
	if n > 1 {
		b.whole[n] = '/'
		n++
	}
	d.base = n
	d.path = append(b.whole[:n], name...)
	return d
}

// target is the path that a link at a landing names, absolute; it may be longer
// than a path can be.
func (l *Listener) target(d *landing, b *scratch) (path []byte, isLink bool) {
	if d.kind != unix.S_IFLNK {
		return nil, false
	}
	n := readlinkat(d.dir, d.name, b.path[:])
	if n < 0 {
		return nil, false
	}
	next := b.next[:0]
	if n == 0 || b.path[0] != '/' {
		next = append(next, d.path[:d.base]...)
	}
	return append(append(next, b.path[:n]...), 0), true
}

// lastName is a path's last name, copied.
func (b *scratch) lastName(path []byte) []byte {
	path = bytes.TrimRight(path[:len(path)-1], "/")
	name := path[bytes.LastIndexByte(path, '/')+1:]
	return append(append(b.name[:0], name[:min(len(name), nameMax)]...), 0)
}

// stops tells whether a name must not come into being where it lands. What is
// mounted there nobody can replace, and in a folder that may only be read
// nothing comes into being.
func (l *Listener) stops(d *landing) bool {
	switch {
	case d.unread:
		return true
	case d.odd:
		return l.Part(d.text())
	case !d.ok || d.mounted:
		return false
	}
	host, ok := l.host(text(d.path))
	return ok && l.Forbids(host) && access(d.dir, unix.W_OK) != unix.EROFS
}
