package listen

import "golang.org/x/sys/unix"

// node is a file, or a directory.
type node struct{ dev, ino uint64 }

// where identifies a directory by the ids of its mount and inode.
type where struct{ mount, ino uint64 }

// place returns the mount and inode that a path leads to. Mount ids need Linux 5.8.
func place(path []byte) (where, unix.Errno) {
	st, e := statx(unix.AT_FDCWD, path, 0, unix.STATX_INO|unix.STATX_MNT_ID)
	return where{st.Mnt_id, st.Ino}, e
}

// inode is a file for as long as it lives, and its birth tells it from another
// that has its number later.
type inode struct {
	dev, ino uint64
	born     unix.StatxTimestamp // zero where the file system does not note it
}

// inodeOf is the file behind a descriptor of only its name, as it is known here
// without asking a server, and what it is.
func inodeOf(fd int) (id inode, st unix.Statx_t, e unix.Errno) {
	st, e = statx(fd, []byte{0}, unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC, unix.STATX_BASIC_STATS|unix.STATX_BTIME)
	id = inode{dev: unix.Mkdev(st.Dev_major, st.Dev_minor), ino: st.Ino}
	if st.Mask&unix.STATX_BTIME != 0 {
		id.born = st.Btime
	}
	return id, st, e
}

// system is the part of statfs(2) that matters of what a directory is on: whether it is
// /proc, where names lead each process elsewhere, and whether it may only be read. What
// cannot be told is taken for both.
type system struct{ asked, isProc, fixed bool }

func systemOf(fd int) system {
	var fs unix.Statfs_t
	if unix.Fstatfs(fd, &fs) != nil {
		return system{true, true, true}
	}
	return system{true, fs.Type == unix.PROC_SUPER_MAGIC, fs.Flags&unix.ST_RDONLY != 0}
}

func isProc(fd int) bool { return systemOf(fd).isProc }
