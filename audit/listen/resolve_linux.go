package listen

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// resolved is the result of resolving a caller's path.
type resolved struct {
	fd    int // O_PATH; -1 with errno
	errno unix.Errno
	// certain is false if the kernel may resolve the path differently for the caller than
	// for the supervisor, as with links in /proc.
	certain bool
}

func (r *resolved) close() {
	if r.fd >= 0 {
		unix.Close(r.fd)
	}
}

func failed(e unix.Errno, certain bool) resolved { return resolved{fd: -1, errno: e, certain: certain} }

// resolve resolves a path for the waiting thread, from its root, its current directory or
// its descriptor dirfd.
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
	// The path contains a link or "..", so it is resolved from the root.
	n := readlink(ownFD(base), p.joined[:])
	if n <= 0 || p.joined[0] != '/' || n+1+len(path) > len(p.joined) || bytes.HasSuffix(p.joined[:n], []byte(removed)) || !p.namesAreTheirs() {
		return failed(e, false)
	}
	p.joined[n] = '/'
	copy(p.joined[n+1:], path)
	return p.fromRoot(p.joined[:n+1+len(path)], nofollow)
}

// inRoot holds the openat2 flags for paths from the sandbox's root.
const inRoot = unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS

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

// maxLinks is how many dangling links missing follows itself, maxTries how many
// directories walk opens per notification to find the missing name: each may cost the
// kernel a walk over forty links of four kilobytes.
const (
	maxLinks = 8
	maxTries = 50
)

// walk resolves a path under root and determines whether a failure is certain.
func (p *paths) walk(root int, path []byte, nofollow bool, links int) resolved {
	if p.triesPlain {
		switch fd, e := openat2(root, path, nofollow, plainly); e {
		case 0:
			return resolved{fd: fd}
		case unix.ENOENT, unix.ENOTDIR:
			return failed(e, true)
		}
		p.triesPlain = false
	}
	fd, e := openat2(root, path, nofollow, inRoot)
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
		p.triesPlain = true
		return failed(e, true)
	}
	// Find the first missing name, to decide whether it is missing for the caller too.
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
		dir, found := openat2(root, append(path[:cut+1:cut+1], 0), false, inRoot)
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

// plainly allows neither links nor mounts on the path: so it never enters /proc, whose
// names differ for each process.
const plainly = inRoot | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV

// isPlain reports whether a path fails with the same errno under plainly, as most look-ups
// along PATH do.
func isPlain(root int, path []byte, e unix.Errno) bool {
	fd, again := openat2(root, path, false, plainly)
	if again == 0 {
		unix.Close(fd)
	}
	return again == e
}

// missing determines the error for path[cut+1:end], the first name that does not resolve
// in the directory dir.
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
	return failed(unix.ENOENT, false) // created in the meantime
}

// isNamed reports whether the file is at one of the paths that a spec names. It follows no
// symbolic link, which a program inside could have planted.
func (p *paths) isNamed(names []string, id inode) bool {
	for _, name := range names {
		fd, e := openat2(p.root, append([]byte(name), 0), true, inRoot|unix.RESOLVE_NO_SYMLINKS)
		if e != 0 {
			continue
		}
		named, _, e := inodeOf(fd)
		unix.Close(fd)
		if e == 0 && named == id {
			return true
		}
	}
	return false
}

// forCaller returns the errno with which to answer a call whose path did not resolve.
func (r *resolved) forCaller() unix.Errno {
	switch r.errno {
	case unix.ENOENT, unix.ENOTDIR, unix.ENAMETOOLONG, unix.EACCES:
		return r.errno
	case unix.EBADF: // the path leads through /proc/self/fd
		return unix.ENOENT
	case unix.ELOOP:
		if r.certain {
			return unix.ELOOP
		}
	}
	return unix.EPERM
}
