package oci

import (
	"encoding/binary"
	"errors"

	"golang.org/x/sys/unix"
)

// removeLink deletes a network interface (rtnetlink(7), RTM_DELLINK).
func removeLink(index int) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	m := make([]byte, unix.SizeofNlMsghdr+unix.SizeofIfInfomsg)
	n := binary.NativeEndian
	n.PutUint32(m[0:], uint32(len(m)))
	n.PutUint16(m[4:], unix.RTM_DELLINK)
	n.PutUint16(m[6:], unix.NLM_F_REQUEST|unix.NLM_F_ACK)
	n.PutUint32(m[unix.SizeofNlMsghdr+4:], uint32(index))
	if err := unix.Sendto(fd, m, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	var answer [4096]byte
	got, _, err := unix.Recvfrom(fd, answer[:], 0)
	if err != nil {
		return err
	}
	if got < unix.SizeofNlMsghdr+4 || n.Uint16(answer[4:]) != unix.NLMSG_ERROR {
		return errors.New("the kernel does not answer")
	}
	if e := int32(n.Uint32(answer[unix.SizeofNlMsghdr:])); e != 0 {
		return unix.Errno(-e)
	}
	return nil
}
