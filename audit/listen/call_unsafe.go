package listen

import (
	"bytes"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Paths here are bytes with a NUL at the end, so that nothing is copied to make
// a call.

// readInto reads the path at an address of the waiting thread's into buf, of
// pathMax bytes. EFAULT and ENAMETOOLONG are the kernel's own answers; any other
// error means that the memory is not the supervisor's to read.
// process_vm_readv(2) reads what it is asked for whole or not at all, so that is
// up to the page's end, and what lies behind it only for a path that goes on
// there. Most paths are short, and a page takes longer to be copied.
func (c *caller) readInto(addr uint64, buf []byte) ([]byte, unix.Errno) {
	have := uint64(0)
	for part := min(pageSize-addr%pageSize, shortPath); ; part = min(pathMax-have, pageSize-(addr+have)%pageSize) {
		e := c.copyIn(buf[have:have+part], addr+have)
		if e == unix.EFAULT || e != 0 && have == 0 {
			return nil, e
		}
		if e != 0 { // the thread is gone
			return nil, unix.EFAULT
		}
		if i := bytes.IndexByte(buf[have:have+part], 0); i >= 0 {
			return buf[:have+uint64(i)+1], 0
		}
		if have += part; have == pathMax {
			return nil, unix.ENAMETOOLONG
		}
	}
}

// copyIn copies from the waiting thread's memory. What lies across the end of
// what is mapped is EFAULT.
func (c *caller) copyIn(buf []byte, addr uint64) unix.Errno {
	if c.byFile {
		return c.copyByFile(buf, addr)
	}
	local := unix.Iovec{Base: &buf[0], Len: uint64(len(buf))}
	remote := unix.RemoteIovec{Base: uintptr(addr), Len: len(buf)}
	n, _, e := unix.Syscall6(unix.SYS_PROCESS_VM_READV, uintptr(c.n.TID), uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
	switch {
	case e == unix.EPERM || e == unix.ENOSYS: // of this program, or of any: a container's filter
		e = c.copyByFile(buf, addr)
		c.byFile = e == 0
	case e == 0 && int(n) < len(buf):
		e = unix.EFAULT
	}
	return e
}

// copyByFile is copyIn where the caller's sandbox has no process_vm_readv(2).
func (c *caller) copyByFile(buf []byte, addr uint64) unix.Errno {
	fd, e := openFile(c.proc("mem", -1))
	if e != 0 {
		return unix.EPERM
	}
	defer unix.Close(fd)
	n, _, e := unix.Syscall6(unix.SYS_PREAD64, uintptr(fd), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), uintptr(addr), 0, 0)
	if e != 0 || int(n) < len(buf) {
		return unix.EFAULT
	}
	return 0
}

// readHow reads openat2's arguments from the waiting thread's memory.
func (c *caller) readHow(addr uint64) (w unix.OpenHow, e unix.Errno) {
	e = c.copyIn(unsafe.Slice((*byte)(unsafe.Pointer(&w)), unix.SizeofOpenHow), addr)
	return w, e
}

// shortPath is as much of a path as is read at first.
const shortPath = 256

// pageSize is the smallest that both architectures have; with larger pages a
// path is read in one piece more than it must be.
const pageSize = 4096

// openat2 opens a path by name only, beneath dir as resolve says.
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

// maxAgain is how often a path with ".." is tried again beside which something was
// renamed, wherever that was (EAGAIN).
const maxAgain = 100

// openPath opens a path of the supervisor's own by name only, openFile to read
// a regular file. O_NONBLOCK: what is none may not hold up the listener.
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

// readlink is the length of a link's text, -1 where there is none.
func readlink(path, buf []byte) int { return readlinkat(unix.AT_FDCWD, path, buf) }

func readlinkat(dir int, path, buf []byte) int {
	r, _, e := unix.Syscall6(unix.SYS_READLINKAT, uintptr(dir), uintptr(unsafe.Pointer(&path[0])), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), 0, 0)
	if e != 0 {
		return -1
	}
	return int(r)
}

// accessAt asks what the supervisor's effective user may do with a name in a
// directory, which is no link.
func accessAt(dir int, name []byte, mode uintptr) unix.Errno {
	_, _, e := unix.Syscall6(unix.SYS_FACCESSAT2, uintptr(dir), uintptr(unsafe.Pointer(&name[0])), mode, unix.AT_SYMLINK_NOFOLLOW|unix.AT_EACCESS, 0, 0)
	return e
}

// access asks what the supervisor's effective user may do with a file.
func access(fd int, mode uintptr) unix.Errno {
	empty := [1]byte{}
	_, _, e := unix.Syscall6(unix.SYS_FACCESSAT2, uintptr(fd), uintptr(unsafe.Pointer(&empty)), mode, unix.AT_EMPTY_PATH|unix.AT_EACCESS, 0, 0)
	return e
}

// stands fills in what an entry's name is, and whether it is a mount
// (STATX_ATTR_MOUNT_ROOT, Linux 5.8).
func (d *entry) stands() {
	st, e := statx(d.dir, d.name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_TYPE|unix.STATX_INO)
	if e != 0 {
		return
	}
	d.exists, d.kind = true, uint32(st.Mode)&unix.S_IFMT
	d.file = node{unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino}
	d.mounted = st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
	d.onDisk = !d.mounted && st.Dev_major != 0
}

// lstat is the mode of a name in a directory.
func lstat(dir int, name []byte) (mode uint32, e unix.Errno) {
	st, e := statx(dir, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_TYPE)
	return uint32(st.Mode), e
}

func statx(dir int, path []byte, flags, mask uintptr) (st unix.Statx_t, e unix.Errno) {
	_, _, e = unix.Syscall6(unix.SYS_STATX, uintptr(dir), uintptr(unsafe.Pointer(&path[0])), flags|unix.AT_NO_AUTOMOUNT, mask, uintptr(unsafe.Pointer(&st)), 0)
	return st, e
}

// where is a directory on a mount.
type where struct{ mount, ino uint64 }

// place is where a path leads; the mount's number is there since Linux 5.8.
func place(path []byte) (where, unix.Errno) {
	st, e := statx(unix.AT_FDCWD, path, 0, unix.STATX_INO|unix.STATX_MNT_ID)
	return where{st.Mnt_id, st.Ino}, e
}

// text is a path without its NUL, valid as long as its bytes stay.
func text(path []byte) string { return unsafe.String(&path[0], len(path)-1) }
