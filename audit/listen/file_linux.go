package listen

import "golang.org/x/sys/unix"

// node identifies a file or a directory as long as it is not removed.
type node struct{ dev, ino uint64 }

// place identifies a file and the mount by which it was reached. Before Linux 5.8, which does
// not report mount ids, mount is 0.
type place struct {
	node
	mount uint64
}

func placeOf(dir int, path []byte, flags uintptr) (place, unix.Errno) {
	st, e := statx(dir, path, flags, unix.STATX_INO|unix.STATX_MNT_ID)
	return place{node{unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino}, st.Mnt_id}, e
}

// placeOfFD is placeOf for an open file.
func placeOfFD(fd int) (place, unix.Errno) { return placeOf(fd, []byte{0}, unix.AT_EMPTY_PATH) }

// placeIn resolves an absolute path (NUL-terminated) in a root directory; root -1 is the
// supervisor's own.
func placeIn(root int, path []byte) (place, unix.Errno) {
	if root < 0 {
		own, e := openPath([]byte("/\x00"))
		if e != 0 {
			return place{}, e
		}
		defer unix.Close(own)
		root = own
	}
	fd, e := openat2(root, path, false, inRoot)
	if e != 0 {
		return place{}, e
	}
	defer unix.Close(fd)
	return placeOfFD(fd)
}

// samePlace reports whether two paths lead to the same file by the same mount.
func samePlace(a, b []byte) bool {
	x, e := placeOf(unix.AT_FDCWD, a, 0)
	y, e2 := placeOf(unix.AT_FDCWD, b, 0)
	return e == 0 && e2 == 0 && x == y
}

// inode identifies a file. The time of birth distinguishes it from a later file that
// reuses its inode number.
type inode struct {
	dev, ino uint64
	born     unix.StatxTimestamp // zero if the file system does not record it
}

// inodeOf returns the identity and attributes of an open file. On a network file system it
// does not ask the server, which could block.
func inodeOf(fd int) (id inode, st unix.Statx_t, e unix.Errno) {
	st, e = statx(fd, []byte{0}, unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC, unix.STATX_BASIC_STATS|unix.STATX_BTIME)
	id = inode{dev: unix.Mkdev(st.Dev_major, st.Dev_minor), ino: st.Ino}
	if st.Mask&unix.STATX_BTIME != 0 {
		id.born = st.Btime
	}
	return id, st, e
}

// system describes the file system of a directory: whether it is /proc, where paths lead
// each process elsewhere, and whether it is mounted read-only (fixed).
type system struct{ asked, isProc, fixed bool }

// systemOf returns the file system of an open file; if statfs(2) fails, one with all
// restrictions.
func systemOf(fd int) system {
	var fs unix.Statfs_t
	if unix.Fstatfs(fd, &fs) != nil {
		return system{true, true, true}
	}
	return system{true, fs.Type == unix.PROC_SUPER_MAGIC, fs.Flags&unix.ST_RDONLY != 0}
}

func isProc(fd int) bool { return systemOf(fd).isProc }
