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
