package listen

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"
)

// paths resolves the caller's paths.
type paths struct {
	*caller
	root       int                    // the sandbox's (O_PATH); -1: each process has its own
	matters    func(name []byte) bool // whether a removal of this name needs its whole path
	own        int                    // O_PATH descriptor of the supervisor's /proc/self/fd; 0 until first used
	joined     [pathMax]byte          // buffer for a relative path made absolute
	work       [2]scratch             // for the created path and for the removed one
	tries      int                    // directories opened for this notification, see maxTries
	triesPlain bool                   // the last path was plainly missing: try plainly first
	existed    bool                   // the last path to be created existed already
}

func (p *paths) close() {
	if p.own > 0 {
		unix.Close(p.own)
	}
}

// nameMax is NAME_MAX: the longest name, without its NUL.
const nameMax = 255

// scratch holds the buffers in which a path is resolved, so that a call allocates nothing.
type scratch struct {
	path  [pathMax]byte       // as the caller passed it
	next  [2*pathMax + 1]byte // the target of a link
	dir   [pathMax]byte       // the path without its last name
	whole [pathMax + nameMax + 2]byte
	name  [nameMax + 2]byte
}

// lastName copies a path's last name into b.name.
func (b *scratch) lastName(path []byte) []byte {
	path = bytes.TrimRight(path[:len(path)-1], "/")
	name := path[bytes.LastIndexByte(path, '/')+1:]
	return append(append(b.name[:0], name[:min(len(name), nameMax)]...), 0)
}

// nameOf returns the path of a file that the supervisor has open; of a removed file, the path
// that it had.
func (p *paths) nameOf(fd int) string {
	var buf [pathMax + 1]byte
	n := max(p.pathOf(fd, buf[:pathMax]), 0)
	former, is := bytes.CutSuffix(buf[:n], []byte(removed))
	if !is {
		return string(buf[:n])
	}
	file, e := placeOfFD(fd)
	if here, e2 := placeIn(p.root, buf[:n+1]); e == 0 && e2 == 0 && here.node == file.node {
		return string(buf[:n]) // the file's own name ends in this text
	}
	return string(former)
}

// removed is the text that /proc appends to the path of a removed file (proc_pid_fd(5)). The name
// of an existing file may end in it, too.
const removed = " (deleted)"

// pathOf writes the path of an open file into a buffer and returns its length, -1 on
// failure. It keeps /proc/self/fd open, which halves the look-ups of the kernel.
func (p *paths) pathOf(fd int, buf []byte) int {
	if p.own == 0 {
		dir, e := openPath([]byte("/proc/self/fd\x00"))
		if e != 0 {
			return readlink(ownFD(fd), buf)
		}
		p.own = dir // never 0, which is stdin
	}
	var name [24]byte
	return readlinkat(p.own, append(strconv.AppendInt(name[:0], int64(fd), 10), 0), buf)
}

// base opens the directory that a relative path counts from.
func (p *paths) base(dirfd int32) (int, unix.Errno) {
	if dirfd == unix.AT_FDCWD {
		return openPath(p.proc("cwd", -1))
	}
	fd, e := p.openFD(dirfd)
	if e == unix.ENOENT {
		e = unix.EBADF
	}
	return fd, e
}

// final reports whether the caller would certainly get the supervisor's error e too.
// EACCES may differ: a caller that is root could enter the directory.
func (p *paths) final(e unix.Errno) bool {
	switch e {
	case unix.ENOENT, unix.ENOTDIR, unix.ENAMETOOLONG:
		return true
	case unix.EACCES:
		return p.root >= 0 || p.mayNoMore()
	}
	return false
}

// mayNoMore reports whether the thread has no more file permissions than the supervisor:
// it has the same uid, gid and user namespace, and is not root.
func (p *paths) mayNoMore() bool {
	var st unix.Stat_t
	if unix.Geteuid() == 0 || unix.Stat("/proc/"+strconv.Itoa(int(p.n.TID)), &st) != nil ||
		int(st.Uid) != unix.Geteuid() || int(st.Gid) != unix.Getegid() {
		return false
	}
	return samePlace(p.proc("ns/user", -1), []byte("/proc/self/ns/user\x00"))
}

// namesAreTheirs reports whether a path that the supervisor reads from the kernel is the
// thread's path too: in a sandbox with its own root, or if both have the same root.
func (p *paths) namesAreTheirs() bool {
	return p.root >= 0 || samePlace(p.proc("root", -1), []byte("/\x00"))
}
