package relay

import (
	"net"
	"unsafe"

	"golang.org/x/sys/unix"
)

// disconnect frees a socket of its connection, which breaks, so that it can connect anew.
// Of the error that this leaves behind Go's poller would make one of the next connection.
func disconnect(c *net.TCPConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	wait := raw.Control(func(fd uintptr) {
		to := unix.RawSockaddr{Family: unix.AF_UNSPEC}
		if _, _, e := unix.Syscall(unix.SYS_CONNECT, fd, uintptr(unsafe.Pointer(&to)), unix.SizeofSockaddrInet4); e != 0 {
			err = e
			return
		}
		_, err = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ERROR) // takes it off
	})
	if wait != nil {
		return wait
	}
	return err
}
