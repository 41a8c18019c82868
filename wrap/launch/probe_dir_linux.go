package launch

import (
	"bytes"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// dirBuffer is as much of a folder as is read at once; glibc's readdir does
// the same.
const dirBuffer = 16 << 10

// openDir opens a folder for reading; where only passing through is allowed,
// for that.
func openDir(dir int, name string) (fd int, readable bool, err error) {
	const flags = unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NONBLOCK
	fd, err = unix.Openat(dir, name, unix.O_RDONLY|flags, 0)
	if err == unix.EACCES || err == unix.EPERM {
		fd, err = unix.Openat(dir, name, unix.O_PATH|flags, 0)
		return fd, false, err
	}
	return fd, true, err
}

// openAt is openDir for an absolute path. plain tells that there was no link on
// the way, so that the path is the folder's own; not every kernel can tell.
func openAt(path string) (fd int, readable, plain bool, err error) {
	how := unix.OpenHow{Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NONBLOCK,
		Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err = unix.Openat2(unix.AT_FDCWD, path, &how)
	if err == nil || err == unix.ENOENT {
		return fd, true, isClean(path), err
	}
	fd, readable, err = openDir(unix.AT_FDCWD, path)
	return fd, readable, false, err
}

// beneathFlags keep a path that the workspace may have laid out inside of the
// folder it is counted from, without links.
const beneathFlags = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS

// openBeneath opens the folder rel beneath dir, or an absolute rel, and follows
// no link on the way.
// Before Linux 5.6 only the last name is held to that: a program that swaps a
// folder above for a link meanwhile can then lead the search elsewhere, which
// finds more and protects nothing less.
func openBeneath(dir int, rel string) (int, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOFOLLOW
	how := unix.OpenHow{Flags: flags, Resolve: beneathFlags}
	if rel[0] == '/' {
		how.Resolve &^= unix.RESOLVE_BENEATH
	}
	fd, err := unix.Openat2(dir, rel, &how)
	if err == unix.ENOSYS || err == unix.EPERM {
		return unix.Openat(dir, rel, flags, 0)
	}
	return fd, err
}

// entries calls each for the names of the folder fd, in the folder's order,
// until it returns false or there are no more. The name is good during the
// call only; each must not read another folder.
func (p *prober) entries(fd int, each func(name []byte, dtype byte) bool) {
	for {
		b := p.read(fd)
		if len(b) == 0 || !eachEntry(b, each) {
			return
		}
	}
}

// read is the next part of the folder fd; empty at its end.
func (p *prober) read(fd int) []byte {
	if p.dirs == nil {
		p.dirs = make([]byte, dirBuffer)
	}
	for {
		n, err := unix.Getdents(fd, p.dirs)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return nil
		}
		return p.dirs[:n]
	}
}

// eachEntry walks the records of getdents64(2): inode 8, offset 8, length 2,
// type 1, then the name with a null. "." and ".." are left out.
func eachEntry(b []byte, each func(name []byte, dtype byte) bool) bool {
	const head = 19
	for len(b) > head {
		size := int(b[16]) | int(b[17])<<8
		if size <= head || size > len(b) {
			return true
		}
		name := b[head:size]
		if end := bytes.IndexByte(name, 0); end >= 0 {
			name = name[:end]
		}
		if !(len(name) == 1 && name[0] == '.' || len(name) == 2 && name[0] == '.' && name[1] == '.') &&
			!each(name, b[18]) {
			return false
		}
		b = b[size:]
	}
	return true
}

// kindIn is the kind of name in dir, links not followed. The folder's own word
// is taken where it has one.
func kindIn(dir int, name string, dtype byte) wrap.Kind {
	if kind, ok := kindOfEntry(dtype); ok {
		return kind
	}
	var st unix.Stat_t
	if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT) != nil {
		return wrap.Absent
	}
	return kindOf(st.Mode)
}
