package host

import (
	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// openDir opens a directory for reading; where only passing through is allowed,
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
// the way, so that the path is the directory's own; not every kernel can tell.
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
// directory it is counted from, without links.
const beneathFlags = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS

// openBeneath opens the directory rel beneath dir, or an absolute rel, and follows
// no link on the way.
// Before Linux 5.6 only the last name is held to that: a program that swaps a
// directory above for a link meanwhile can then lead the search elsewhere, which
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

// kindIn is the kind of name in dir, links not followed. The directory's own word
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
