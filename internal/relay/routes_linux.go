package relay

import (
	"encoding/binary"
	"sync"

	"golang.org/x/sys/unix"

	"sbx/internal/reach"
)

// Routes asks the kernel where an address leads, over a socket of rtnetlink(7) that is
// opened before Confine. Without capabilities the process can change nothing through it.
// Comparing the two ends of a connected socket would not suffice: a second address of an
// interface is reached from the first.
type Routes struct {
	mu  sync.Mutex
	fd  int
	seq uint32
}

// OpenRoutes opens the socket.
func OpenRoutes() (*Routes, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	return &Routes{fd: fd}, err
}

// Own is like reach.Special: it says if an address is currently the host's own.
func (r *Routes) Own(ip reach.IP) string {
	switch kind, ok := r.kind(ip); {
	case !ok:
		return "the kernel does not say whether it is the host's own"
	case kind == unix.RTN_LOCAL || kind == unix.RTN_ANYCAST:
		return "the host's own"
	}
	return ""
}

// kind returns the type of the route to an address; RTN_UNREACHABLE if there is none.
func (r *Routes) kind(ip reach.IP) (kind byte, ok bool) {
	const head = unix.SizeofNlMsghdr
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seq++
	if unix.Sendto(r.fd, question(ip, r.seq), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}) != nil {
		return 0, false
	}
	for b := make([]byte, 1<<12); ; { // the kernel has answered by the time that Sendto returns
		n, from, err := unix.Recvfrom(r.fd, b, unix.MSG_DONTWAIT)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, false
		}
		kernel, isNetlink := from.(*unix.SockaddrNetlink)
		if !isNetlink || kernel.Pid != 0 || n < head+unix.SizeofRtMsg || binary.NativeEndian.Uint32(b[8:]) != r.seq {
			continue
		}
		switch binary.NativeEndian.Uint16(b[4:]) {
		case unix.RTM_NEWROUTE:
			return b[head+7], true // struct rtmsg: rtm_type
		case unix.NLMSG_ERROR:
			errno := unix.Errno(-int32(binary.NativeEndian.Uint32(b[head:])))
			return unix.RTN_UNREACHABLE, errno == unix.ENETUNREACH || errno == unix.EHOSTUNREACH
		}
	}
}

// question is an RTM_GETROUTE message for an address.
func question(ip reach.IP, seq uint32) []byte {
	address, family := ip[:], byte(unix.AF_INET6)
	if ip.Is4() {
		address, family = ip[12:], unix.AF_INET
	}
	const attribute = unix.SizeofNlMsghdr + unix.SizeofRtMsg
	b := make([]byte, attribute+unix.SizeofRtAttr, attribute+unix.SizeofRtAttr+len(address))
	binary.NativeEndian.PutUint32(b, uint32(cap(b)))
	binary.NativeEndian.PutUint16(b[4:], unix.RTM_GETROUTE)
	binary.NativeEndian.PutUint16(b[6:], unix.NLM_F_REQUEST)
	binary.NativeEndian.PutUint32(b[8:], seq)
	b[unix.SizeofNlMsghdr], b[unix.SizeofNlMsghdr+1] = family, byte(8*len(address))
	binary.NativeEndian.PutUint16(b[attribute:], uint16(unix.SizeofRtAttr+len(address)))
	binary.NativeEndian.PutUint16(b[attribute+2:], unix.RTA_DST)
	return append(b, address...)
}
