package listen

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// pidfdThread is PIDFD_THREAD of pidfd_open(2): of a thread, whichever (Linux
// 6.9).
const pidfdThread = unix.O_EXCL

// siocUnixFile is SIOCUNIXFILE of linux/un.h: a descriptor, by name only, of the
// file that a socket of AF_UNIX is bound to. The caller needs CAP_NET_ADMIN in
// the user namespace of the socket's network, which its maker has.
const siocUnixFile = 0x89e0

// soNetnsCookie is SO_NETNS_COOKIE of asm-generic/socket.h (Linux 5.14): which
// network namespace a socket is of.
const soNetnsCookie = 71

func pidfdOpen(pid int, flags uintptr) (int, unix.Errno) {
	r, _, e := unix.Syscall(unix.SYS_PIDFD_OPEN, uintptr(pid), flags, 0)
	return fdOr(r, e)
}

// pidfdGetfd copies a descriptor of a process's.
func pidfdGetfd(pidfd int, number int32) (int, unix.Errno) {
	r, _, e := unix.Syscall(unix.SYS_PIDFD_GETFD, uintptr(pidfd), uintptr(uint32(number)), 0)
	return fdOr(r, e)
}

// boundTo opens, by name only, the file that a socket is bound to. ENOENT: it is
// bound to none.
func boundTo(sock int) (int, unix.Errno) {
	r, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(sock), siocUnixFile, 0)
	return fdOr(r, e)
}

// cookie is the network namespace of a socket, 0 where the kernel does not tell.
func cookie(sock int) uint64 {
	var v uint64
	size := uint32(8)
	_, _, e := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(sock), unix.SOL_SOCKET, soNetnsCookie,
		uintptr(unsafe.Pointer(&v)), uintptr(unsafe.Pointer(&size)), 0)
	if e != 0 {
		return 0
	}
	return v
}

// read copies length bytes of the waiting thread's memory, whole or not at all.
func (c *caller) readAddress(a *address, addr uint64, length int) unix.Errno {
	a.n = length
	if length == 0 {
		return 0
	}
	return c.copyIn(a.b[:length], addr)
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
