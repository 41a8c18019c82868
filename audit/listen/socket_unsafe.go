package listen

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// pidfdThread is PIDFD_THREAD of pidfd_open(2) (Linux 6.9): the pidfd may refer to any
// thread.
const pidfdThread = unix.O_EXCL

// siocUnixFile is SIOCUNIXFILE of linux/un.h: it opens the file that an AF_UNIX socket is
// bound to, with O_PATH. It needs CAP_NET_ADMIN in the user namespace of the socket's
// network namespace, which the process has that created the namespaces.
const siocUnixFile = 0x89e0

// soNetnsCookie is SO_NETNS_COOKIE of asm-generic/socket.h (Linux 5.14): the id of a
// socket's network namespace.
const soNetnsCookie = 71

func pidfdOpen(pid int, flags uintptr) (int, unix.Errno) {
	r, _, e := unix.Syscall(unix.SYS_PIDFD_OPEN, uintptr(pid), flags, 0)
	return fdOr(r, e)
}

// pidfdGetfd duplicates a descriptor of another process.
func pidfdGetfd(pidfd int, number int32) (int, unix.Errno) {
	r, _, e := unix.Syscall(unix.SYS_PIDFD_GETFD, uintptr(pidfd), uintptr(uint32(number)), 0)
	return fdOr(r, e)
}

// boundTo opens the file that a socket is bound to, with O_PATH; ENOENT if it is not bound
// to a file.
func boundTo(sock int) (int, unix.Errno) {
	r, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(sock), siocUnixFile, 0)
	return fdOr(r, e)
}

// cookie returns the id of a socket's network namespace; 0 if it cannot be determined.
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
