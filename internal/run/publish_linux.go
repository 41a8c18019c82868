package run

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/reach"
	"sbx/internal/read"
	"sbx/internal/relay/wire"
	"sbx/spec"
)

// backlog is the length of the queue of connections that wait for the relay; the kernel
// may shorten it.
const backlog = 4096

// publish creates the listening sockets for the host's ports of network.listen and gives
// them to the relay, so that a port that is in use is reported before the command starts.
// The supervisor keeps no copy, and closes them before it makes the sandbox.
func (x *relay) publish() error {
	for i, l := range x.Resolved.Listen {
		fd, err := listenAt(l)
		if err != nil {
			return x.unpublished(i, err)
		}
		x.Tell(wire.AppendPublish(nil, uint16(l.Inside)), []int{fd})
		unix.Close(fd)
	}
	return nil
}

// listenAt returns a socket that listens at an address and port of the host.
func listenAt(l reach.Listen) (fd int, err error) {
	domain, address := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Port: l.Host, Addr: l.Address})
	if l.Address.Is4() {
		domain, address = unix.AF_INET, &unix.SockaddrInet4{Port: l.Host, Addr: [4]byte(l.Address[12:])}
	}
	fd, err = unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	if domain == unix.AF_INET6 {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1)
	}
	if err == nil { // closed connections of an earlier run (TIME_WAIT) do not block the port
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	}
	if err == nil {
		err = unix.Bind(fd, address)
	}
	if err == nil {
		err = unix.Listen(fd, backlog)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// unpublished explains why the nth port is not available.
func (x *relay) unpublished(n int, err error) error {
	l, item := x.Resolved.Listen[n], ListenItem(n)
	p := &spec.Problem{Field: spec.Field(item), On: x.Resolved.At(spec.Field(item)), Do: "listen at " + l.HostPort() + " of the host", Why: err.Error()}
	other := l
	switch err {
	case unix.EADDRINUSE:
		p.Why = "another program listens there"
		other.Host = l.Host%65535 + 1
		p.Help = "end that (ss -ltnp shows it), or publish another port: \"" + other.String() + "\""
	case unix.EACCES:
		first, _ := read.Proc("/proc/sys/net/ipv4/ip_unprivileged_port_start", 16)
		p.Why += ": ports below " + strings.TrimSpace(string(first)) + " are for root"
		other.Host = l.Host%1024 + 8000
		p.Help = "publish another port: \"" + other.String() + "\""
	case unix.EADDRNOTAVAIL:
		p.Help = "name an address of the host's, or 0.0.0.0 for all of them"
	}
	return p
}

// recordPublished records a connection that was made to the nth published port.
func (x *egress) recordPublished(n int, m *wire.Ended) {
	if n >= len(x.Resolved.Listen) {
		return
	}
	l := x.Resolved.Listen[n]
	c := audit.Connection{Host: l.Address.String(), Port: l.Host, Inside: l.Inside, Made: 1, Out: int64(m.Up), In: int64(m.Down)}
	if m.Outcome != wire.Done {
		c.Failed, c.Why = 1, "nobody answers inside: "+m.Detail
	}
	x.record.Connections.Add(c)
}
