package listen

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// entry is a directory entry that a call would create, replace or remove.
type entry struct {
	ok      bool   // dir and path are known
	dir     int    // the directory that contains the entry (O_PATH)
	path    []byte // the absolute path inside the sandbox, NUL-terminated
	base    int    // where the name begins in path
	exists  bool
	file    node   // the existing file
	kind    uint32 // its S_IFMT
	onDisk  bool   // the entry is no mount point, and its file system has a device
	mounted bool   // the entry is a mount point: it can be neither replaced nor removed
	// unread: the supervisor may not read the caller's memory. odd: the path leads
	// through a link of /proc, or the supervisor cannot follow it for another reason;
	// only name is known.
	unread, odd bool
	// absent: the directory does not exist; path is absolute and as the caller passed it.
	absent bool
	// errno is why the path cannot be read, and the answer to the call. The kernel must
	// not continue the call: it can read some memory that other processes cannot
	// (memfd_secret(2), write-only pages).
	errno unix.Errno
	name  []byte // NUL-terminated

	system system // the file system of dir, filled in by on
}

// on returns the file system of the entry's directory, and caches it.
func (d *entry) on() system {
	if !d.system.asked {
		d.system = systemOf(d.dir)
	}
	return d.system
}

// isFixed reports whether a read-only mount (EROFS) keeps entries from being created in
// or removed from the entry's directory.
func (d *entry) isFixed() bool {
	return d.on().fixed && access(d.dir, unix.W_OK) == unix.EROFS
}

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

// maxFollowed is how many links entryAt follows at the end of a path: as many as the
// kernel does (MAXSYMLINKS of linux/namei.h).
const maxFollowed = 40

// follow says how far a path's last name is resolved.
type follow uint8

const (
	stays   follow = iota // the last name itself, link or not
	follows               // the target if the last name is a link, as for open with O_CREAT
	fresh                 // for creation: the location only if the name does not exist yet
	leaves                // for removal: the location only if something may deny the removal
)

// entry reads a path argument from the caller's memory and finds its directory entry.
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
	if p.existed && p.isThere(path) { // the previous one existed too: so do most names of a mkdir -p
		return entry{exists: true}
	}
	d := p.entryAt(a.dirfd, path, b, how)
	p.existed = d.exists
	return d
}

// isThere reports whether an absolute path certainly exists. It does not follow a link
// at the end.
func (p *paths) isThere(path []byte) bool {
	if p.root < 0 || path[0] != '/' {
		return false
	}
	fd, e := openat2(p.root, path, true, inRoot)
	if e == 0 {
		unix.Close(fd)
	}
	return e == 0
}

// entryAt is entry for a path that was read already.
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
		if len(next) > pathMax { // the kernel may still follow it, relative to the link's directory
			return entry{odd: true, name: b.lastName(next)}
		}
		path, dirfd = next, unix.AT_FDCWD
	}
}

// entryOnce is entryAt without following the last name.
func (p *paths) entryOnce(dirfd int32, path []byte, b *scratch, how follow) entry {
	end := len(path) - 1
	for end > 0 && path[end-1] == '/' {
		end--
	}
	cut := bytes.LastIndexByte(path[:end], '/') + 1
	name := path[cut:end]
	if len(name) == 0 || len(name) > nameMax || string(name) == "." || string(name) == ".." {
		return entry{} // no call can create such a name
	}
	name = append(append(b.name[:0], name...), 0)
	dir := append(b.dir[:0], path[:cut]...)
	if cut == 0 {
		dir = append(dir, '.')
	}
	f := p.resolve(dirfd, append(dir, 0), false)
	if f.errno == unix.EAGAIN { // renames kept interfering, so the path's target is unknown
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

// entryIn returns the entry of a name in a directory. It takes ownership of dir.
func (p *paths) entryIn(dir int, name []byte, b *scratch, how follow) entry {
	d := entry{ok: true, dir: dir, name: name}
	d.stat() // sets onDisk: files on a device are not in /proc
	if how == fresh && d.exists {
		unix.Close(dir)
		return entry{exists: true, name: name}
	}
	if how == leaves && (!d.exists || !d.mounted && !p.matters(name) && !d.on().isProc) && !d.on().fixed {
		unix.Close(dir)
		return entry{exists: d.exists, name: name}
	}
	n := p.pathOf(dir, b.whole[:pathMax])
	if n <= 0 || b.whole[0] != '/' || isRemoved(dir, b.whole[:n]) || !d.onDisk && d.on().isProc {
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

// isRemoved reports whether a directory was removed, so that it has no path. path is the text that
// /proc shows for the directory; the name of an existing directory may end in the same way
// (proc_pid_fd(5)).
func isRemoved(dir int, path []byte) bool {
	if !bytes.HasSuffix(path, []byte(removed)) {
		return false
	}
	var st unix.Stat_t
	return unix.Fstat(dir, &st) != nil || st.Nlink == 0
}

// target returns the absolute path that an entry leads to if it is a symbolic link. The
// path may be longer than pathMax.
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

// entryByProc is entry for a path through /proc/self/fd, see ownDir. Its result may
// only be reported, never decided by: a thread can have a descriptor table other than
// its process's, which /proc/self shows.
func (p *paths) entryByProc(a argument, b *scratch, how follow) entry {
	path, e := p.readInto(a.addr, b.path[:])
	if e != 0 {
		return entry{unread: true}
	}
	dirfd, rest, ok := ownDir(path)
	if !ok {
		return entry{odd: true}
	}
	return p.entryAt(dirfd, rest, b, how)
}

// stat fills in the file that the entry's name leads to, and whether that is a mount point
// (STATX_ATTR_MOUNT_ROOT, Linux 5.8).
func (d *entry) stat() {
	st, e := statx(d.dir, d.name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_TYPE|unix.STATX_INO)
	if e != 0 {
		return
	}
	d.exists, d.kind = true, uint32(st.Mode)&unix.S_IFMT
	d.file = node{unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino}
	d.mounted = st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
	d.onDisk = !d.mounted && st.Dev_major != 0
}
