package listen

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// argument is a path as a call's arguments have it.
type argument struct {
	dirfd int32
	addr  uint64
}

func (c *caller) argument(s pathArg) argument {
	a := argument{dirfd: unix.AT_FDCWD, addr: c.call.Args[s.path]}
	if s.dir >= 0 {
		a.dirfd = int32(c.call.Args[s.dir])
	}
	return a
}

// entry is where a name would come into being or go.
type entry struct {
	ok      bool   // dir and path are known
	dir     int    // the directory that it is in (O_PATH)
	path    []byte // the whole path inside, a NUL at the end
	base    int    // where the name begins in path
	exists  bool
	file    node   // what is there
	kind    uint32 // its S_IFMT
	onDisk  bool   // and the directory is on the same file system, which has a device
	mounted bool   // something is mounted on it: it can be neither replaced nor removed
	// unread: the caller's memory or descriptor is not to be read. odd: the way
	// leads through a link of /proc, or else is not the supervisor's to follow,
	// and name is all that is known.
	unread, odd bool
	// absent: the directory is not there, and path, which is absolute, is as the caller has it.
	absent bool
	// errno is why the path cannot be read by anybody: it is answered. The call
	// may not go on, since the kernel reads some memory that others cannot
	// (memfd_secret(2), pages that may only be written).
	errno unix.Errno
	name  []byte // a NUL at the end

	system system // that dir is on, once asked for
}

// on is the file system that an entry's directory is on.
func (d *entry) on() system {
	if !d.system.asked {
		d.system = systemOf(d.dir)
	}
	return d.system
}

// isFixed tells whether nothing can come into being in an entry's directory or go, be it
// that the user might write there otherwise.
func (d *entry) isFixed() bool {
	return d.on().fixed && access(d.dir, unix.W_OK) == unix.EROFS
}

// scratch is where a path is worked on, so that a call costs no memory.
type scratch struct {
	path  [pathMax]byte       // as the caller has it
	next  [2*pathMax + 1]byte // where a link leads
	dir   [pathMax]byte       // the directory that the last name is in
	whole [pathMax + nameMax + 2]byte
	name  [nameMax + 2]byte
}

// nameMax is NAME_MAX: the longest name, without its NUL.
const nameMax = 255

func (d *entry) close() {
	if d.ok {
		unix.Close(d.dir)
	}
}

func (d *entry) text() string {
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

// follow is what is asked of an entry.
type follow uint8

const (
	stays   follow = iota // where the last name lies
	follows               // and where it leads if it is a link, as an open that creates asks
	fresh                 // only whether it is there, if it is: where it lies if not
	leaves                // where it lies, if there is more to say than that it can go
)

// entry finds where a path's last name lies.
func (p *paths) entry(a argument, b *scratch, how follow) entry {
	path, e := p.readInto(a.addr, b.path[:])
	switch e {
	case 0:
	case unix.EFAULT, unix.ENAMETOOLONG:
		return entry{errno: e}
	default:
		return entry{unread: true}
	}
	if how != fresh {
		return p.entryAt(a.dirfd, path, b, how)
	}
	if p.there && p.isThere(path) { // as the last one was: most of a mkdir -p is
		return entry{exists: true}
	}
	d := p.entryAt(a.dirfd, path, b, how)
	p.there = d.exists
	return d
}

// isThere tells whether an absolute path is there for sure; a link at its end is.
func (p *paths) isThere(path []byte) bool {
	if p.root < 0 || path[0] != '/' {
		return false
	}
	fd, e := openat2(p.root, path, true, beneath)
	if e == 0 {
		unix.Close(fd)
	}
	return e == 0
}

// entryAt is land for a path that was read.
func (p *paths) entryAt(dirfd int32, path []byte, b *scratch, how follow) entry {
	for links := 0; ; links++ {
		d := p.entryOnce(dirfd, path, b, how)
		if !d.ok || !d.exists || how != follows || links >= maxFollowed {
			return d
		}
		next, isLink := p.target(&d, b)
		if !isLink {
			return d
		}
		d.close()
		if len(next) > pathMax { // and yet the kernel may follow it, from the link's directory
			return entry{odd: true, name: b.lastName(next)}
		}
		path, dirfd = next, unix.AT_FDCWD
	}
}

// entryOnce is land without following the last name.
func (p *paths) entryOnce(dirfd int32, path []byte, b *scratch, how follow) entry {
	end := len(path) - 1
	for end > 0 && path[end-1] == '/' {
		end--
	}
	cut := bytes.LastIndexByte(path[:end], '/') + 1
	name := path[cut:end]
	if len(name) == 0 || len(name) > nameMax || string(name) == "." || string(name) == ".." {
		return entry{} // never a name that is made
	}
	name = append(append(b.name[:0], name...), 0)
	dir := append(b.dir[:0], path[:cut]...)
	if cut == 0 {
		dir = append(dir, '.')
	}
	f := p.resolve(dirfd, append(dir, 0), false)
	if f.errno == unix.EAGAIN { // nobody can tell where it leads
		return entry{errno: f.errno}
	}
	if f.errno != 0 {
		d := entry{odd: !f.certain, name: name}
		if d.absent = f.certain && f.errno == unix.ENOENT && path[0] == '/'; d.absent {
			d.path = path
		}
		return d
	}
	return p.entryIn(f.fd, name, b, how)
}

// entryIn is the entry of a name in a directory, whose descriptor it takes over.
func (p *paths) entryIn(dir int, name []byte, b *scratch, how follow) entry {
	d := entry{ok: true, dir: dir, name: name}
	d.stands() // what is on a device is not in /proc
	if how == fresh && d.exists {
		unix.Close(dir)
		return entry{exists: true, name: name}
	}
	if how == leaves && (!d.exists || !d.mounted && !p.matters(name) && !d.on().isProc) && !d.on().fixed {
		unix.Close(dir)
		return entry{exists: d.exists, name: name}
	}
	n := p.pathOf(dir, b.whole[:pathMax])
	if n <= 0 || b.whole[0] != '/' || bytes.HasSuffix(b.whole[:n], []byte(" (deleted)")) || !d.onDisk && d.on().isProc {
		unix.Close(dir)
		return entry{odd: true, name: name}
	}
	if n > 1 {
		b.whole[n] = '/'
		n++
	}
	d.base = n
	d.path = append(b.whole[:n], name...)
	return d
}

// target is the path that a link at an entry names, absolute; it may be longer
// than a path can be.
func (p *paths) target(d *entry, b *scratch) (path []byte, isLink bool) {
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

// entryByProc is land for a path beneath one of the caller's descriptors, by way
// of /proc. It is good for telling alone: a thread with descriptors of its own
// has others than /proc/self does.
func (p *paths) entryByProc(a argument, b *scratch, how follow) entry {
	path, e := p.readInto(a.addr, b.path[:])
	if e != 0 {
		return entry{unread: true}
	}
	dirfd, rest, ok := ownFolder(path)
	if !ok {
		return entry{odd: true}
	}
	return p.entryAt(dirfd, rest, b, how)
}
