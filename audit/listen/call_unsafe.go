package listen

import (
	"bytes"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Paths in this file are NUL-terminated bytes, so that no system call needs a copy.

// readInto reads the path at addr in the caller's memory into buf, which has pathMax
// bytes. EFAULT and ENAMETOOLONG are what the kernel would answer; any other error means
// that the supervisor may not read the memory.
// A read that crosses into an unmapped page fails, so readInto reads up to the end of a
// page and goes on to the next only if the path does. It begins with shortPath bytes:
// most paths are short, and copying a page takes longer.
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

// copyIn fills buf from addr in the caller's memory. It returns EFAULT if part of the
// range is not mapped.
func (c *caller) copyIn(buf []byte, addr uint64) unix.Errno {
	if c.byFile {
		return c.copyByFile(buf, addr)
	}
	local := unix.Iovec{Base: &buf[0], Len: uint64(len(buf))}
	remote := unix.RemoteIovec{Base: uintptr(addr), Len: len(buf)}
	n, _, e := unix.Syscall6(unix.SYS_PROCESS_VM_READV, uintptr(c.n.TID), uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
	switch {
	case e == unix.EPERM || e == unix.ENOSYS: // denied for this program, or by a container's filter for all
		e = c.copyByFile(buf, addr)
		c.byFile = e == 0
	case e == 0 && int(n) < len(buf):
		e = unix.EFAULT
	}
	return e
}

// copyByFile is the fallback of copyIn through /proc/TID/mem, for hosts where
// process_vm_readv(2) is denied.
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

// readHow reads openat2's struct open_how from the caller's memory.
func (c *caller) readHow(addr uint64) (w unix.OpenHow, e unix.Errno) {
	e = c.copyIn(unsafe.Slice((*byte)(unsafe.Pointer(&w)), unix.SizeofOpenHow), addr)
	return w, e
}

// shortPath is how many bytes of a path readInto reads at first.
const shortPath = 256

// pageSize is the smallest page of both architectures. With larger pages a path is read
// in more pieces than necessary.
const pageSize = 4096

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

// maxAgain is how often openat2 repeats a call that failed with EAGAIN: the kernel
// answers that for a path with ".." if a rename anywhere on the host coincides.
const maxAgain = 100

// openPath opens a path with O_PATH, openFile for reading. Both resolve it as the
// supervisor. O_NONBLOCK: a FIFO or a device must not block the listener.
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

// lstat returns the file type (S_IFMT) of a name in a directory.
func lstat(dir int, name []byte) (mode uint32, e unix.Errno) {
	st, e := statx(dir, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_TYPE)
	return uint32(st.Mode), e
}

func statx(dir int, path []byte, flags, mask uintptr) (st unix.Statx_t, e unix.Errno) {
	_, _, e = unix.Syscall6(unix.SYS_STATX, uintptr(dir), uintptr(unsafe.Pointer(&path[0])), flags|unix.AT_NO_AUTOMOUNT, mask, uintptr(unsafe.Pointer(&st)), 0)
	return st, e
}

// where identifies a directory by the ids of its mount and inode.
type where struct{ mount, ino uint64 }

// place returns the mount and inode that a path leads to. Mount ids need Linux 5.8.
func place(path []byte) (where, unix.Errno) {
	st, e := statx(unix.AT_FDCWD, path, 0, unix.STATX_INO|unix.STATX_MNT_ID)
	return where{st.Mnt_id, st.Ino}, e
}

// text returns a path without its NUL. The string shares the bytes of path.
func text(path []byte) string { return unsafe.String(&path[0], len(path)-1) }
