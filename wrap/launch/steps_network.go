package launch

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	broker "sbx/internal/broker/wire"
	"sbx/internal/relay/wire"
	"sbx/wrap"
)

// network creates the network namespace and brings lo up in it (struct ifreq with
// IFF_UP|IFF_RUNNING).
func (l *list) network(o *wrap.Opening) {
	l.on, l.field = "the network namespace", "network"
	l.add(unix.SYS_UNSHARE, "unshare", num(unix.CLONE_NEWNET))
	l.on = "lo"
	if !o.Loopback {
		return
	}
	fd := l.slot()
	l.socket(fd, unix.AF_INET, unix.SOCK_DGRAM, 0)
	ifr := make([]byte, 40)
	copy(ifr, "lo")
	ifr[16] = unix.IFF_UP | unix.IFF_RUNNING
	l.add(unix.SYS_IOCTL, "ioctl", kept(fd), num(unix.SIOCSIFFLAGS), data(string(ifr)))
	l.close(fd)
	if o.Egress {
		l.egress()
	}
	if o.Lookups {
		l.lookups()
	}
	if o.Doors {
		l.doors(o.FirstPort)
	}
	if o.Broker {
		l.on, l.field = "the broker's socket", "broker.file"
		l.listener(slotBroker, &ipv4, broker.Port)
	}
	l.on, l.field = "", ""
}

// listener creates a socket that listens at a port of a family's loopback address.
func (l *list) listener(s Slot, f *family, port int) {
	l.socket(s, f.domain, unix.SOCK_STREAM, 0)
	l.add(unix.SYS_BIND, "bind", kept(s), data(f.address(port, f.loopback)), num(f.length))
	l.add(unix.SYS_LISTEN, "listen", kept(s), num(backlog))
}

func (l *list) socket(s Slot, domain, kind, protocol int) {
	l.add(unix.SYS_SOCKET, "socket", num(domain), num(kind|unix.SOCK_CLOEXEC), num(protocol)).Save = s
}

// netlink opens a socket for messages of rtnetlink(7).
func (l *list) netlink() Slot {
	fd := l.slot()
	l.socket(fd, unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE)
	return fd
}

// ipv4 and ipv6 are the two address families.
var (
	ipv4 = family{domain: unix.AF_INET, length: 16, udpOptions: []option{{unix.IPPROTO_IP, unix.IP_PKTINFO}},
		sockets: [3]Slot{slotEgress, slotEgress + 2, slotEgress + 3}, doorSlot: slotDoors, loopback: "\x7f\x00\x00\x01"}
	ipv6 = family{domain: unix.AF_INET6, length: 28, options: []option{{unix.IPPROTO_IPV6, unix.IPV6_V6ONLY}}, udpOptions: []option{{unix.IPPROTO_IPV6, unix.IPV6_RECVPKTINFO}},
		sockets: [3]Slot{slotEgress + 1, slotEgress + 4, slotEgress + 5}, doorSlot: slotDoors + 2, loopback: strings.Repeat("\x00", 15) + "\x01"}
)

// family is an address family, and what differs between the two.
type family struct {
	domain, length      int      // length of struct sockaddr_in or sockaddr_in6
	options, udpOptions []option // options of every socket, and further ones of UDP sockets
	sockets             [3]Slot  // for connections, and for DNS by UDP and by TCP
	doorSlot            Slot     // slot of the socket that listens for network.listen; the next slot has the one that connects
	loopback            string   // the loopback address
}

type option struct{ level, name int }

// backlog is how many connections may wait for the relay or the broker.
const backlog = 4096

// egress makes every address local to the sandbox, so that nothing leaves it, and creates
// the relay's sockets. On a host without IPv6 the IPv6 steps are skipped.
func (l *list) egress() {
	l.on = "the routes of the network namespace"
	fd := l.netlink()
	for _, f := range []*family{&ipv4, &ipv6} {
		m := localRoute(f.domain, unix.RT_TABLE_LOCAL, 0, "")
		l.add(unix.SYS_WRITE, "write", kept(fd), data(m), num(len(m)))
	}
	l.close(fd)
	l.relaySockets(&ipv4)
	first := len(l.steps)
	l.relaySockets(&ipv6)
	v6 := l.steps[first:]
	v6[0].Expected, v6[0].Skip = Errno(unix.EAFNOSUPPORT), uint8(len(v6)-1) // no support for IPv6: skip all
	v6[1].Expected, v6[1].Skip = anyErrno, uint8(len(v6)-3)                 // no IPv6 in this namespace: skip all but the close
}

// relaySockets creates the relay's sockets of a family. The first two steps test whether the
// route exists: the kernel's answer to the rtnetlink(7) message is not read.
func (l *list) relaySockets(f *family) {
	l.on = "the routes of the network namespace"
	probe := l.slot()
	l.socket(probe, f.domain, unix.SOCK_DGRAM, 0)
	l.add(unix.SYS_CONNECT, "connect", kept(probe), data(f.address(wire.DNS, " ")), num(f.length))
	l.on = "the relay's sockets"
	for i, s := range f.sockets {
		kind, port, options := unix.SOCK_STREAM, wire.DNS, f.options
		switch i {
		case 0:
			port = wire.Port
		case 1:
			kind, options = unix.SOCK_DGRAM, append(append([]option{}, f.options...), f.udpOptions...)
		}
		l.socket(s, f.domain, kind, 0)
		for _, o := range options {
			l.add(unix.SYS_SETSOCKOPT, "setsockopt", kept(s), num(o.level), num(o.name), data("\x01\x00\x00\x00"), num(4))
		}
		l.add(unix.SYS_BIND, "bind", kept(s), data(f.address(port, "")), num(f.length))
		if kind == unix.SOCK_STREAM {
			l.add(unix.SYS_LISTEN, "listen", kept(s), num(backlog))
		}
	}
	l.close(probe)
}

// doors creates the loopback sockets for network.listen: the relay derives from them its
// connections to servers inside, and its listeners at ports that lead to those servers. On a
// host without IPv6 the IPv6 steps are skipped.
func (l *list) doors(firstPort int) {
	l.field = "network.listen"
	if firstPort != 0 {
		l.write("/proc/sys/net/ipv4/ip_unprivileged_port_start", strconv.Itoa(firstPort))
	}
	l.on = "the relay's doors"
	l.doorOf(&ipv4)
	first := len(l.steps)
	l.doorOf(&ipv6)
	for i := range l.steps[first:] {
		s := &l.steps[first+i]
		s.Expected, s.Skip = anyErrno, uint8(len(l.steps)-first-i-1)
	}
}

func (l *list) doorOf(f *family) {
	l.listener(f.doorSlot, f, wire.Door)
	l.socket(f.doorSlot+1, f.domain, unix.SOCK_STREAM, 0)
}

// address returns a struct sockaddr_in or sockaddr_in6 whose address begins with ip and
// continues with zeroes.
func (f *family) address(port int, ip string) string {
	b := make([]byte, f.length)
	b[0], b[2], b[3] = byte(f.domain), byte(port>>8), byte(port)
	if f.domain == unix.AF_INET {
		copy(b[4:], ip)
	} else {
		copy(b[8:], ip)
	}
	return string(b)
}

// lookups directs DNS queries to any server, and nothing else, to a socket of the
// supervisor's: by a routing rule for UDP to port 53 (ip-rule(8)). Resolvers accept answers
// only from the server that they asked, whose address is not one of the sandbox: hence
// IP_TRANSPARENT. If a step fails, the remaining ones are skipped, and no server can be
// reached.
func (l *list) lookups() {
	l.on = "the socket for look-ups of names"
	first := len(l.steps)
	l.socket(slotLookups, unix.AF_INET, unix.SOCK_DGRAM, 0)
	for _, name := range [...]int{unix.IP_TRANSPARENT, unix.IP_PKTINFO} {
		l.add(unix.SYS_SETSOCKOPT, "setsockopt", kept(slotLookups), num(unix.IPPROTO_IP), num(name), data("\x01\x00\x00\x00"), num(4))
	}
	l.add(unix.SYS_BIND, "bind", kept(slotLookups), data(ipv4.address(wire.DNS, "")), num(ipv4.length))
	fd := l.netlink()
	opened := len(l.steps)
	rule, route := lookupRule(), localRoute(unix.AF_INET, tableLookups, unix.RTA_PREFSRC, "\x7f\x00\x00\x01")
	l.add(unix.SYS_WRITE, "write", kept(fd), data(rule), num(len(rule)))
	// A kernel without such rules answers with an error. It has only one table, which must not get the route.
	told := l.add(unix.SYS_RECVFROM, "recvfrom", kept(fd), num(0), num(0), num(unix.MSG_DONTWAIT))
	told.Expected, told.Skip = Errno(unix.EAGAIN), 1
	l.add(unix.SYS_CLOSE, "close", num(-1)) // an invalid step, which skips the route
	l.add(unix.SYS_WRITE, "write", kept(fd), data(route), num(len(route)))
	l.close(fd)
	end := len(l.steps)
	for i := range l.steps[first:end] {
		s := &l.steps[first+i]
		switch {
		case first+i < opened:
			s.Expected, s.Skip = anyErrno, uint8(end-first-i-1)
		case s.Expected == 0 && first+i < end-1:
			s.Expected, s.Skip = anyErrno, uint8(end-first-i-2) // skip all but the close
		}
	}
}

// tableLookups is the routing table for DNS queries.
const tableLookups = wire.DNS

// lookupRule returns the message that makes a table of its own route DNS queries: "ip rule add
// ipproto udp dport 53 lookup 53".
func lookupRule() string {
	b := message(unix.RTM_NEWRULE, 12+8+8) // struct fib_rule_hdr
	m := b[unix.SizeofNlMsghdr:]
	m[0], m[4], m[7] = unix.AF_INET, tableLookups, unix.FR_ACT_TO_TBL
	a := m[12:]
	a[0], a[2], a[4] = 5, unix.FRA_IP_PROTO, unix.IPPROTO_UDP
	a = a[8:]
	a[0], a[2], a[4], a[6] = 8, unix.FRA_DPORT_RANGE, wire.DNS, wire.DNS
	return string(b)
}

// message returns an rtnetlink(7) message with room for size bytes after its header.
func message(kind uint16, size int) []byte {
	b := make([]byte, unix.SizeofNlMsghdr+size)
	b[0], b[4], b[5] = byte(len(b)), byte(kind), byte(kind>>8)
	flags := unix.NLM_F_REQUEST | unix.NLM_F_CREATE
	b[6], b[7] = byte(flags), byte(flags>>8)
	return b
}

// localRoute returns the message that makes all addresses of a family local to lo: "ip route add
// local 0.0.0.0/0 dev lo table TABLE". If value is not empty, it adds an attribute with this 4-byte
// value.
func localRoute(domain int, table byte, attribute byte, value string) string {
	const lo = 1 // the first interface of a network namespace
	size := unix.SizeofRtMsg + 8
	if value != "" {
		size += 8
	}
	b := message(unix.RTM_NEWROUTE, size)
	m := b[unix.SizeofNlMsghdr:]
	m[0], m[4], m[5], m[6], m[7] = byte(domain), table, unix.RTPROT_STATIC, unix.RT_SCOPE_HOST, unix.RTN_LOCAL
	a := m[unix.SizeofRtMsg:]
	a[0], a[2], a[4] = 8, unix.RTA_OIF, lo
	if value != "" {
		a[8], a[10] = 8, attribute
		copy(a[12:], value)
	}
	return string(b)
}
