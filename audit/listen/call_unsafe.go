package listen

import (
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Paths in this file are NUL-terminated bytes, so that no system call needs a copy.

// pathMax is PATH_MAX: the longest path that a call takes, its NUL included.
const pathMax = 4096

// openat2 opens a path with O_PATH, relative to dir and under the RESOLVE_ flags.
func openat2(dir int, path []byte, nofollow bool, resolve uint64) (int, unix.Errno) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: resolve}
	if nofollow {
		how.Flags |= unix.O_NOFOLLOW
	}
	for tries := 0; ; tries++ {
		r, _, e := unix.Syscall6(unix.SYS_OPENAT2, uintptr(dir), uintptr(unsafe.Pointer(&path[0])), uintptr(unsafe.Pointer(&how)), unix.SizeofOpenHow, 0, 0)
		if e != unix.EAGAIN || tries == maxAgain {
			return fdOr(r, e)
		}
	}
}

// maxAgain is how often openat2 repeats a call that failed with EAGAIN: the kernel gives that error
// for a path with ".." if a rename anywhere on the host coincides.
const maxAgain = 100

// openPath opens a path with O_PATH, openFile for reading. Both resolve the path as the supervisor.
// O_NONBLOCK: a FIFO or a device must not block the listener.
func openPath(path []byte) (int, unix.Errno) { return open(path, unix.O_PATH|unix.O_CLOEXEC) }

func openFile(path []byte) (int, unix.Errno) {
	return open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY)
}

func open(path []byte, flags uintptr) (int, unix.Errno) {
	dir := unix.AT_FDCWD
	r, _, e := unix.Syscall6(unix.SYS_OPENAT, uintptr(dir), uintptr(unsafe.Pointer(&path[0])), flags, 0, 0, 0)
	return fdOr(r, e)
}

func fdOr(r uintptr, e unix.Errno) (int, unix.Errno) {
	if e != 0 {
		return -1, e
	}
	return int(r), 0
}

// readlink reads a symbolic link into buf and returns the length, -1 on failure.
func readlink(path, buf []byte) int { return readlinkat(unix.AT_FDCWD, path, buf) }

func readlinkat(dir int, path, buf []byte) int {
	r, _, e := unix.Syscall6(unix.SYS_READLINKAT, uintptr(dir), uintptr(unsafe.Pointer(&path[0])), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), 0, 0)
	if e != 0 {
		return -1
	}
	return int(r)
}

// accessAt checks whether the supervisor's effective user may access a name in a
// directory. It does not follow symbolic links.
func accessAt(dir int, name []byte, mode uintptr) unix.Errno {
	_, _, e := unix.Syscall6(unix.SYS_FACCESSAT2, uintptr(dir), uintptr(unsafe.Pointer(&name[0])), mode, unix.AT_SYMLINK_NOFOLLOW|unix.AT_EACCESS, 0, 0)
	return e
}

// access checks whether the supervisor's effective user may access an open file.
func access(fd int, mode uintptr) unix.Errno {
	empty := [1]byte{}
	_, _, e := unix.Syscall6(unix.SYS_FACCESSAT2, uintptr(fd), uintptr(unsafe.Pointer(&empty)), mode, unix.AT_EMPTY_PATH|unix.AT_EACCESS, 0, 0)
	return e
}

// lstat returns the file type (S_IFMT) of a name in a directory.
func lstat(dir int, name []byte) (mode uint32, e unix.Errno) {
	st, e := statx(dir, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_TYPE)
	return uint32(st.Mode), e
}

func statx(dir int, path []byte, flags, mask uintptr) (st unix.Statx_t, e unix.Errno) {
	_, _, e = unix.Syscall6(unix.SYS_STATX, uintptr(dir), uintptr(unsafe.Pointer(&path[0])), flags|unix.AT_NO_AUTOMOUNT, mask, uintptr(unsafe.Pointer(&st)), 0)
	return st, e
}

// text returns a path without its NUL. The string shares the bytes of path.
func text(path []byte) string { return unsafe.String(&path[0], len(path)-1) }

// ownFD returns the /proc path of a descriptor of the supervisor.
func ownFD(fd int) []byte {
	return append(strconv.AppendInt(append(make([]byte, 0, 32), "/proc/self/fd/"...), int64(fd), 10), 0)
}
