package listen

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"
)

// resolved is what a path of the caller's leads to.
type resolved struct {
	fd    int // by name only; -1 with errno
	errno unix.Errno
	// certain is false where the kernel may come to another end than the
	// supervisor did, who is another process: links of /proc lead elsewhere.
	certain bool
}

func (r *resolved) close() {
	if r.fd >= 0 {
		unix.Close(r.fd)
	}
}

func failed(e unix.Errno, certain bool) resolved { return resolved{fd: -1, errno: e, certain: certain} }

// resolve finds what a path leads to for the waiting thread: from its root, its
// current directory or its descriptor.
func (p *paths) resolve(dirfd int32, path []byte, nofollow bool) resolved {
	if path[0] == '/' {
		return p.fromRoot(path, nofollow)
	}
	base, e := p.base(dirfd)
	if e != 0 {
		return failed(e, e == unix.EBADF)
	}
	if string(path) == ".\x00" && dirfd == unix.AT_FDCWD { // a directory, and open already
		return resolved{fd: base}
	}
	defer unix.Close(base)
	fd, e := openat2(base, path, nofollow, unix.RESOLVE_BENEATH|unix.RESOLVE_NO_SYMLINKS)
	switch e {
	case 0:
		return resolved{fd: fd}
	case unix.ELOOP, unix.EXDEV:
	default:
		return failed(e, p.final(e) && !isProc(base))
	}
	// A link or ".." is on the way: from the root, then.
	n := readlink(ownFD(base), p.joined[:])
	if n <= 0 || p.joined[0] != '/' || n+1+len(path) > len(p.joined) || bytes.HasSuffix(p.joined[:n], []byte(" (deleted)")) || !p.namesAreTheirs() {
		return failed(e, false)
	}
	p.joined[n] = '/'
	copy(p.joined[n+1:], path)
	return p.fromRoot(p.joined[:n+1+len(path)], nofollow)
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

// final tells whether an error of the supervisor's is one of the caller's as
// well. What a user may not enter, root might.
func (p *paths) final(e unix.Errno) bool {
	switch e {
	case unix.ENOENT, unix.ENOTDIR, unix.ENAMETOOLONG:
		return true
	case unix.EACCES:
		return p.root >= 0 || p.mayNoMore()
	}
	return false
}

// mayNoMore tells whether the thread may enter no more than the supervisor: it is
// the same user's, and no user namespace of its own gives it rights.
func (p *paths) mayNoMore() bool {
	var st unix.Stat_t
	if unix.Geteuid() == 0 || unix.Stat("/proc/"+strconv.Itoa(int(p.n.TID)), &st) != nil ||
		int(st.Uid) != unix.Geteuid() || int(st.Gid) != unix.Getegid() {
		return false
	}
	theirs, e := place(p.proc("ns/user", -1))
	own, e2 := place([]byte("/proc/self/ns/user\x00"))
	return e == 0 && e2 == 0 && theirs == own
}

// namesAreTheirs tells whether the kernel's name for a directory is what the thread
// would call it: that is so of a sandbox's root, and where the thread has the
// supervisor's own.
func (p *paths) namesAreTheirs() bool {
	if p.root >= 0 {
		return true
	}
	theirs, e := place(p.proc("root", -1))
	own, e2 := place([]byte("/\x00"))
	return e == 0 && e2 == 0 && theirs == own
}

// beneath is how a path is walked from the sandbox's root.
const beneath = unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS

// fromRoot resolves an absolute path.
func (p *paths) fromRoot(path []byte, nofollow bool) resolved {
	root := p.root
	if root < 0 {
		own, e := openPath(p.proc("root", -1))
		if e != 0 {
			return failed(e, false)
		}
		defer unix.Close(own)
		root = own
	}
	return p.walk(root, path, nofollow, 0)
}

// maxLinks is how many dangling links are followed by hand, and maxTries how many
// directories are opened for one notification to find out what is missing: each may
// cost the kernel a walk over forty links of four kilobytes.
const (
	maxLinks = 8
	maxTries = 50
)

// walk resolves a path beneath root and finds out how certain a failure is.
func (p *paths) walk(root int, path []byte, nofollow bool, links int) resolved {
	if p.searches {
		switch fd, e := openat2(root, path, nofollow, plainly); e {
		case 0:
			return resolved{fd: fd}
		case unix.ENOENT, unix.ENOTDIR:
			return failed(e, true)
		}
		p.searches = false
	}
	fd, e := openat2(root, path, nofollow, beneath)
	if e == 0 {
		return resolved{fd: fd}
	}
	if e == unix.ELOOP { // a link of /proc's, or a loop
		fd, e = openat2(root, path, nofollow, unix.RESOLVE_IN_ROOT)
		if e == 0 {
			unix.Close(fd)
		}
		return failed(unix.ELOOP, e == unix.ELOOP)
	}
	if e != unix.ENOENT && e != unix.ENOTDIR {
		return failed(e, p.final(e))
	}
	if p.root >= 0 && isPlain(root, path, e) {
		p.searches = true
		return failed(e, true)
	}
	// Which name is missing, and is it so for the caller?
	for end := len(path) - 1; ; {
		for end > 0 && path[end-1] == '/' {
			end--
		}
		cut := bytes.LastIndexByte(path[:end], '/')
		if cut < 0 || end == 0 {
			return failed(e, false)
		}
		if p.tries++; p.tries > maxTries {
			return failed(e, false)
		}
		dir, found := openat2(root, append(path[:cut+1:cut+1], 0), false, beneath)
		if found != 0 {
			if found != unix.ENOENT && found != unix.ENOTDIR {
				return failed(found, p.final(found))
			}
			end = cut
			continue
		}
		defer unix.Close(dir)
		return p.missing(root, dir, path, cut, end, links)
	}
}

// plainly is a way with no link and no mount on it: no /proc then, whose names mean
// another thing to everybody.
const plainly = beneath | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV

// isPlain tells whether a path fails alike on a plain way. Most of a search along
// PATH ends so.
func isPlain(root int, path []byte, e unix.Errno) bool {
	fd, again := openat2(root, path, false, plainly)
	if again == 0 {
		unix.Close(fd)
	}
	return again == e
}

// missing rules on path[cut+1:end], the first name that does not lead on from
// the directory dir.
func (p *paths) missing(root, dir int, path []byte, cut, end, links int) resolved {
	if isProc(dir) {
		return failed(unix.ENOENT, false)
	}
	name := append(path[cut+1:end:end], 0)
	mode, e := lstat(dir, name)
	last := end == len(path)-1
	switch {
	case e != 0:
		return failed(e, p.final(e))
	case mode&unix.S_IFMT == unix.S_IFLNK && links < maxLinks: // it dangles
		var buf [pathMax]byte
		n := readlinkat(dir, name, buf[:])
		if n <= 0 || cut+1+n+len(path)-end > pathMax {
			return failed(unix.ENOENT, false)
		}
		next := make([]byte, 0, pathMax)
		if buf[0] != '/' {
			next = append(next, path[:cut+1]...)
		}
		next = append(append(next, buf[:n]...), path[end:]...)
		return p.walk(root, next, false, links+1)
	case mode&unix.S_IFMT == unix.S_IFLNK: // the kernel may follow more
	case mode&unix.S_IFMT != unix.S_IFDIR && !last:
		return failed(unix.ENOTDIR, true)
	}
	return failed(unix.ENOENT, false) // it is there by now
}
