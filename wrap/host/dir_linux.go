package host

import (
	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// openDir opens a directory for reading or, if that is denied, only for traversal.
func openDir(dir int, name string) (fd int, readable bool, err error) {
	const flags = unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NONBLOCK
	fd, err = unix.Openat(dir, name, unix.O_RDONLY|flags, 0)
	if err == unix.EACCES || err == unix.EPERM {
		fd, err = unix.Openat(dir, name, unix.O_PATH|flags, 0)
		return fd, false, err
	}
	return fd, true, err
}

// openAt is openDir for an absolute path. plain reports that the path contains no symlink, so
// that it is the directory's real path; older kernels cannot report this.
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

// listing are the flags by which the search opens directories. Before Linux 5.6 only the last
// name of a path is known not to be a symlink: a program that replaces a directory above by
// one at that moment can lead the search elsewhere. The search then finds more, and protects
// nothing less.
const listing = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NONBLOCK

// kindIn returns the kind of a name in dir without following symlinks. It uses the type
// from the directory entry if there is one.
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
