package listen

import "golang.org/x/sys/unix"

// node identifies a file or a directory as long as it is not removed.
type node struct{ dev, ino uint64 }

// samePlace reports whether two paths lead to the same inode by the same mount. Before Linux
// 5.8, which does not report mount ids, it compares only the inodes.
func samePlace(a, b []byte) bool {
	x, e := statx(unix.AT_FDCWD, a, 0, unix.STATX_INO|unix.STATX_MNT_ID)
	y, e2 := statx(unix.AT_FDCWD, b, 0, unix.STATX_INO|unix.STATX_MNT_ID)
	return e == 0 && e2 == 0 && x.Mnt_id == y.Mnt_id && x.Ino == y.Ino
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
