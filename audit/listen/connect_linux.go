package listen

import (
	"cmp"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/internal/relay/wire"
)

// Sockets configures connects from a sandbox with its own network namespace.
type Sockets struct {
	// Named are the paths of the host's pathname sockets that may be connected to.
	Named []string
	// Egress connects to the internet; nil for a sandbox without that.
	Egress *Egress
	// Interrupt is a signal whose handler does nothing: it interrupts a system call.
	Interrupt unix.Signal
	// Describes has connects reported that the sandbox's network denies.
	Describes bool
}

// connector decides connects.
type connector struct {
	*paths
	*answers
	Sockets
	copies    *copies
	narrowing *narrowing
	bound     *boundSockets
	pending   *pendingConnects
	network   uint64 // cookie of the supervisor's network namespace; 0 until first used
}

// rule rules on connect(fd, address, length), and never lets it go on: the
// address or the descriptor could be another by the time at which the kernel
// reads it. A socket of the caller's is copied, its address read once, and what
// was looked at is connected by a helper.
func (c *connector) rule() {
	f := &pendingConnect{id: c.n.ID, tid: c.n.TID, sock: -1, at: -1}
	e := unix.EAGAIN
	if !c.copies.discards.full() {
		e = c.take(f)
	}
	if e == 0 {
		e = c.direct(f)
	}
	if e == 0 && !c.waits() {
		e = unix.ESRCH // and perhaps what was read was another's
	}
	if e == 0 {
		e = c.pending.start(f)
	}
	if e != 0 {
		c.fail(e)
		c.copies.discards.add(f.sock)
		c.copies.discards.add(f.at)
	}
}

// take copies the socket and the address. The errors come in the kernel's order
// (__sys_connect of Linux).
func (c *connector) take(f *pendingConnect) unix.Errno {
	fd, e := c.copies.socketOf(int32(c.call.Args[0]))
	f.sock = fd
	if e != 0 {
		return c.unseen(e)
	}
	f.domain, e = optionOf(fd, unix.SO_DOMAIN)
	if e == unix.EBADF {
		return e // open by name only
	}
	length := int32(c.call.Args[2])
	if length < 0 || length > maxAddress {
		return unix.EINVAL
	}
	if e := c.readAddress(&f.address, c.call.Args[1], int(length)); e != 0 {
		return c.unseen(e)
	}
	return e
}

// unseen is the answer where what a call is about cannot be had. The kernel's
// own answers are given; that a program is not the supervisor's to read (it may
// be executed and not read) means that nobody can rule on the call.
func (c *connector) unseen(e unix.Errno) unix.Errno {
	switch e {
	case unix.EBADF, unix.EFAULT, unix.ESRCH:
		return e
	case unix.EMFILE, unix.ENFILE, unix.ENOMEM:
		return unix.EAGAIN
	}
	c.report(BySocket, Connect, "")
	return unix.EPERM
}

// direct decides where a connect may go.
func (c *connector) direct(f *pendingConnect) unix.Errno {
	a := &f.address
	within := c.narrowing.narrows()
	switch f.domain {
	case unix.AF_UNIX:
		if path := a.path(); path != nil {
			return c.directPath(f, path, within)
		}
		if a.abstract() && c.foreign(f.sock) {
			return unix.EPERM // as Landlock answers the caller, whose rules the supervisor has not
		}
		if a.abstract() && len(within) > 0 { // whose it is, nobody can tell
			c.narrowing.beyond(within, "", false)
			return unix.EPERM
		}
	case unix.AF_INET, unix.AF_INET6:
		if c.foreign(f.sock) { // and what the caller handed in stays as it is, connected or not
			return unix.EPERM
		}
		if c.Egress != nil {
			return c.directOut(f, within)
		}
		if f.target, _ = a.outside(); f.target != "" {
			protocol, _ := optionOf(f.sock, unix.SO_PROTOCOL)
			f.action = connecting(protocol)
		}
	case unix.AF_NETLINK:
		if a.n >= unix.SizeofSockaddrNetlink && a.b[8]|a.b[9]|a.b[10]|a.b[11] != 0 {
			return unix.EPERM // to a group, which needs a capability that the caller has not
		}
	}
	return 0
}

// directPath is direct for a socket that stands in a directory. The file is opened,
// judged and then connected to by that descriptor, so that none can take its
// place.
func (c *connector) directPath(f *pendingConnect, path []byte, within []*narrowed) unix.Errno {
	path = c.path[:copy(c.path[:], path)]
	dirfd := int32(unix.AT_FDCWD)
	if n, rest, ok := ownFolder(path); ok {
		dirfd, path = n, rest
	}
	r := c.resolve(dirfd, path, false)
	if r.errno != 0 {
		return r.forCaller()
	}
	f.at = r.fd
	id, st, e := inodeOf(r.fd)
	if e != 0 {
		return unix.EPERM
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFSOCK:
		if !c.bound.has(id) && !c.isNamed(c.Named, id) {
			c.report(BySocket, Connect, c.nameOf(r.fd))
			c.narrowing.beyond(within, c.nameOf(r.fd), true)
			return unix.EACCES
		}
		if !permitAll(within, c.paths, id) {
			c.narrowing.beyond(within, c.nameOf(r.fd), false)
			return unix.EACCES
		}
	case unix.S_IFREG:
		if st.Size == 0 && st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0 { // a mask
			c.report(BySocket, Connect, c.nameOf(r.fd))
		}
	}
	f.address.toward(r.fd)
	return 0
}

// directOut decides a connect to an IP address under network.allow. If it is allowed,
// directOut replaces the address in f by that of the relay.
func (c *connector) directOut(f *pendingConnect, within []*narrowed) unix.Errno {
	e, a := c.Egress, &f.address
	ip, port, ok := a.internet()
	if !ok {
		return 0 // AF_UNSPEC, or an address that the kernel rejects
	}
	e.Hear() // the relay reports a name here before it answers the look-up
	protocol, _ := optionOf(f.sock, unix.SO_PROTOCOL)
	action := connecting(protocol)
	tcp := action == Connect
	name, allowed := e.allowed(ip, port, func(name string) bool { return permits(within, ip, port, name) })
	_, pooled := wire.Pooled(ip)
	switch {
	case tcp && allowed:
		led := &Relayed{Host: cmp.Or(name, e.host(ip)), Port: port}
		led.PID, led.Program = audit.CallerOf(int(c.n.TID))
		token, errno := e.lead(&wire.Expected{IP: ip, Port: uint16(port), Name: name, Plain: len(within) > 0}, led)
		if errno == 0 {
			f.unmade = func() { e.forget(token) }
			a.toToken(token, e.V6 && !ip.Is4())
		}
		return errno
	case (port == wire.Port || port == wire.Door) && tcp && ip.Loopback():
		return unix.ECONNREFUSED
	case protocol != unix.IPPROTO_UDP && ip.Loopback() && port != wire.DNS && len(within) > 0 && !c.narrowing.ownServer(within, ip, port):
		return unix.ECONNREFUSED
	case port == wire.DNS || ip.Loopback() || !tcp && (pooled || allowed): // resolvers sort addresses by a UDP connect, which leads nowhere here
		return 0
	}
	target := Target(e.host(ip), port)
	if _, outer := e.allowed(ip, port, func(string) bool { return true }); outer {
		c.narrowing.beyond(within, target, false)
	} else {
		c.narrowing.beyond(within, target, true)
		if c.Describes {
			c.report(ByNetwork, action, target)
		}
	}
	return unix.ENETUNREACH
}

// foreign tells whether a socket is of the supervisor's network, which only one
// that the caller of sbx handed in can be.
func (c *connector) foreign(sock int) bool {
	if c.network == 0 {
		own, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return true
		}
		defer unix.Close(own)
		c.network = cookie(own)
	}
	theirs := cookie(sock)
	return theirs == 0 || theirs == c.network
}

// optionOf is a number that a socket tells of itself. ENOTSOCK: it is none.
func optionOf(sock, option int) (int, unix.Errno) {
	v, err := unix.GetsockoptInt(sock, unix.SOL_SOCKET, option)
	e, _ := err.(unix.Errno)
	return v, e
}
