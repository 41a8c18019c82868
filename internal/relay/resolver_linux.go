package relay

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// listen serves a DNS socket over UDP. An answer comes from the address that was asked,
// which may be any: the sandbox's route makes all addresses local.
func (s *resolver) listen(file *os.File, v6 bool) error {
	c, err := net.FilePacketConn(file)
	if err != nil {
		return err
	}
	u, ok := c.(*net.UDPConn)
	if !ok {
		_ = c.Close()
		return errors.New("the supervisor sent a socket of another kind")
	}
	raw, err := u.SyscallConn()
	if err == nil {
		e := raw.Control(func(fd uintptr) { err = fromAsked(int(fd), v6) })
		err = errors.Join(e, err)
	}
	if err != nil {
		_ = u.Close()
		return err
	}
	context.AfterFunc(s.relay.ctx, func() { _ = u.Close() })
	s.relay.running.Go(func() { s.packets(u) })
	return nil
}

// fromAsked makes the kernel report which address was asked and allow answers from it.
// IPv6 needs IPV6_FREEBIND for an address that only a route makes local.
func fromAsked(fd int, v6 bool) error {
	if !v6 {
		return unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_PKTINFO, 1)
	}
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_FREEBIND, 1); err != nil {
		return err
	}
	return unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO, 1)
}

// packets answers each packet in a goroutine of its own: a lookup may take seconds.
func (s *resolver) packets(u *net.UDPConn) {
	buf, beside := make([]byte, maxQuery), make([]byte, 128)
	for {
		n, b, flags, from, err := u.ReadMsgUDPAddrPort(buf, beside)
		if s.relay.ctx.Err() != nil {
			return
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if flags&unix.MSG_TRUNC != 0 || s.asked.Load() >= maxAsked {
			continue
		}
		query, to := append([]byte(nil), buf[:n]...), answering(beside[:b])
		s.relay.running.Go(func() {
			if reply := s.reply(query); reply != nil {
				_, _, _ = u.WriteMsgUDPAddrPort(reply, to, from)
			}
		})
	}
}

// answering returns the control message that sends an answer from the address to which the
// question went, given the question's control messages.
func answering(beside []byte) []byte {
	messages, err := unix.ParseSocketControlMessage(beside)
	if err != nil {
		return nil
	}
	for _, m := range messages {
		switch {
		case m.Header.Level == unix.IPPROTO_IP && m.Header.Type == unix.IP_PKTINFO && len(m.Data) >= unix.SizeofInet4Pktinfo:
			return unix.PktInfo4(&unix.Inet4Pktinfo{Spec_dst: [4]byte(m.Data[8:12])}) // struct in_pktinfo: ifindex, spec_dst, addr
		case m.Header.Level == unix.IPPROTO_IPV6 && m.Header.Type == unix.IPV6_PKTINFO && len(m.Data) >= unix.SizeofInet6Pktinfo:
			return unix.PktInfo6(&unix.Inet6Pktinfo{Addr: [16]byte(m.Data[:16])})
		}
	}
	return nil
}
