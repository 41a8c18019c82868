package relay

import (
	"net"
	"unsafe"

	"golang.org/x/sys/unix"
)

// disconnect breaks a socket's connection so that the socket can connect again. It also clears
// the pending SO_ERROR, which Go's poller would report for the next connection.
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
		_, err = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ERROR) // reading clears it
	})
	if wait != nil {
		return wait
	}
	return err
}
