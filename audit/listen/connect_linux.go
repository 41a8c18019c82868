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

// decide answers connect(fd, address, length). It never lets the kernel continue the call,
// since the caller could replace the address or the descriptor before the kernel reads
// them. Instead it duplicates the socket, reads the address once, and has a helper thread
// connect the duplicate to the address that was checked.
func (c *connector) decide() {
	f := &pendingConnect{id: c.n.ID, tid: c.n.TID, sock: -1, at: -1}
	domain, e := 0, unix.EAGAIN
	if !c.copies.discards.full() {
		domain, e = c.take(f)
	}
	if e == 0 {
		e = c.route(f, domain)
	}
	if e == 0 && !c.waits() {
		e = unix.ESRCH // the data may be that of another thread with the same TID
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

// take copies the socket and the address into f, and returns the domain of the socket. It
// checks for errors in the same order as the kernel (__sys_connect of Linux).
func (c *connector) take(f *pendingConnect) (domain int, e unix.Errno) {
	if f.sock, e = c.copies.socketOf(int32(c.call.Args[0])); e != 0 {
		return 0, c.unreadable(e)
	}
	domain, e = optionOf(f.sock, unix.SO_DOMAIN)
	if e == unix.EBADF {
		return 0, e // opened with O_PATH
	}
	switch e := c.readAddress(&f.address); e {
	case 0:
	case unix.EINVAL:
		return 0, e
	default:
		return 0, c.unreadable(e)
	}
	return domain, e // ENOTSOCK comes after the errors of the address
}

// unreadable returns the errno for a call whose socket or address could not be copied. It
// is the kernel's own error if the kernel would fail too. EPERM means that the supervisor
// may not read the caller, as with a program that is executable but not readable: the call
// is denied because it cannot be checked.
func (c *connector) unreadable(e unix.Errno) unix.Errno {
	switch e {
	case unix.EBADF, unix.EFAULT, unix.ESRCH:
		return e
	case unix.EMFILE, unix.ENFILE, unix.ENOMEM:
		return unix.EAGAIN
	}
	c.report(BySocket, Connect, "")
	return unix.EPERM
}

// route decides whether a connect is allowed, and replaces its address if necessary.
func (c *connector) route(f *pendingConnect, domain int) unix.Errno {
	a := &f.address
	within := c.narrowing.ofCaller()
	switch domain {
	case unix.AF_UNIX:
		if path := a.path(); path != nil {
			return c.routePath(f, path, within)
		}
		if a.abstract() && c.foreign(f.sock) {
			return unix.EPERM // as Landlock would: its rules do not apply to the supervisor's connect
		}
		if a.abstract() && len(within) > 0 { // sbx cannot determine which process bound the address
			c.narrowing.notify(within, "", false)
			return unix.EPERM
		}
	case unix.AF_INET, unix.AF_INET6:
		if c.foreign(f.sock) { // a socket passed in by the caller of sbx must stay as it is
			return unix.EPERM
		}
		if c.Egress != nil {
			return c.routeIP(f, within)
		}
		if f.target, _ = a.outside(); f.target != "" {
			protocol, _ := optionOf(f.sock, unix.SO_PROTOCOL)
			f.action = connecting(protocol)
		}
	case unix.AF_NETLINK:
		if a.n >= unix.SizeofSockaddrNetlink && a.b[8]|a.b[9]|a.b[10]|a.b[11] != 0 {
			return unix.EPERM // to a multicast group: needs a capability that the caller lacks
		}
	}
	return 0
}

// routePath is route for a pathname socket. It opens the file, checks it, and replaces the
// address by the path of that descriptor, so that the file cannot be exchanged after the
// check.
func (c *connector) routePath(f *pendingConnect, path []byte, within []*narrowed) unix.Errno {
	path = c.path[:copy(c.path[:], path)]
	dirfd := int32(unix.AT_FDCWD)
	if n, rest, ok := ownDir(path); ok {
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
			c.narrowing.notify(within, c.nameOf(r.fd), true)
			return unix.EACCES
		}
		if !permitAll(within, c.paths, id) {
			c.narrowing.notify(within, c.nameOf(r.fd), false)
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

// routeIP is route for an IP address under network.allow. If the connect is allowed it
// replaces the address by that of the relay.
func (c *connector) routeIP(f *pendingConnect, within []*narrowed) unix.Errno {
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
		token, errno := e.expect(&wire.Expected{IP: ip, Port: uint16(port), Name: name, Plain: len(within) > 0}, led)
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
		c.narrowing.notify(within, target, false)
	} else {
		c.narrowing.notify(within, target, true)
		if c.Describes {
			c.report(ByNetwork, action, target)
		}
	}
	return unix.ENETUNREACH
}

// foreign reports whether a socket may belong to the supervisor's network namespace, as
// only a socket can that the caller of sbx passed in.
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

// optionOf returns an integer option of a socket; ENOTSOCK if the descriptor is not one.
func optionOf(sock, option int) (int, unix.Errno) {
	v, err := unix.GetsockoptInt(sock, unix.SOL_SOCKET, option)
	e, _ := err.(unix.Errno)
	return v, e
}
