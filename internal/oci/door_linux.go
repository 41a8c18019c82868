package oci

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// open locks the shelf's lifeFile and listens on its door. Connections wait until serve.
func (s *supervisor) open(dir string) (err error) {
	if s.alive, err = unix.Open(dir+"/"+lifeFile, unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o600); err == nil {
		err = unix.Flock(s.alive, unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		return err
	}
	if s.door, err = unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0); err != nil {
		return err
	}
	addr, free, err := doorOf(dir)
	if err != nil {
		return err
	}
	defer free()
	if err := unix.Bind(s.door, addr); err != nil {
		return err
	}
	// With this option the kernel names the sender of each message; accepted sockets inherit it
	// (unix(7)).
	if err := unix.SetsockoptInt(s.door, unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err != nil {
		return err
	}
	return unix.Listen(s.door, 64)
}

// doorOf returns the address of a container's door. The address goes through /proc/self/fd, so that
// the shelf's path may be longer than a socket address; free closes that descriptor.
func doorOf(dir string) (addr *unix.SockaddrUnix, free func(), err error) {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	return &unix.SockaddrUnix{Name: "/proc/self/fd/" + strconv.Itoa(fd) + "/" + doorFile}, func() { unix.Close(fd) }, nil
}

// comeTo connects to the supervisor of the container whose shelf is dir.
func comeTo(dir string) (fd int, err error) {
	addr, free, err := doorOf(dir)
	if err != nil {
		return -1, err
	}
	defer free()
	if fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0); err != nil {
		return -1, err
	}
	if err = unix.Connect(fd, addr); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// received reads one message from conn: the descriptor sent with it, -1 for none, and the sender's
// pid.
func received(conn int) (word byte, fd, pid int, err error) {
	text, oob := make([]byte, 1), make([]byte, 256)
	_, n, _, _, err := unix.Recvmsg(conn, text, oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return 0, -1, 0, err
	}
	all, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil {
		return 0, -1, 0, err
	}
	fd = -1
	for i := range all {
		if fds, err := unix.ParseUnixRights(&all[i]); err == nil {
			for _, f := range fds {
				if fd >= 0 {
					unix.Close(f)
					continue
				}
				fd = f
			}
		}
		if c, err := unix.ParseUnixCredentials(&all[i]); err == nil {
			pid = int(c.Pid)
		}
	}
	if pid <= 0 {
		unix.Close(fd)
		return 0, -1, 0, unix.EBADMSG
	}
	return text[0], fd, pid, nil
}
