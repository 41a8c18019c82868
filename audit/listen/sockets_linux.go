package listen

import (
	"golang.org/x/sys/unix"
)

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
	f.within = c.narrowing.narrows()
	switch f.domain {
	case unix.AF_UNIX:
		if path := a.path(); path != nil {
			return c.directPath(f, path)
		}
		if a.abstract() && c.foreign(f.sock) {
			return unix.EPERM // as Landlock answers the caller, whose rules the supervisor has not
		}
		if a.abstract() && len(f.within) > 0 { // whose it is, nobody can tell
			c.narrowing.beyond(f.within, "", false)
			return unix.EPERM
		}
	case unix.AF_INET, unix.AF_INET6:
		if c.foreign(f.sock) { // and what the caller handed in stays as it is, connected or not
			return unix.EPERM
		}
		if c.Egress != nil {
			return c.directOut(f)
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
func (c *connector) directPath(f *pendingConnect, path []byte) unix.Errno {
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
			c.narrowing.beyond(f.within, c.nameOf(r.fd), true)
			return unix.EACCES
		}
		if !permitAll(f.within, c.paths, id) {
			c.narrowing.beyond(f.within, c.nameOf(r.fd), false)
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

// toward makes it the address of a file of the supervisor's descriptors.
func (a *address) toward(fd int) {
	a.n = sunPath + copy(a.b[sunPath:], ownFD(fd))
}

// forCaller is the error that a caller is told for a path that leads nowhere.
func (r *resolved) forCaller() unix.Errno {
	switch r.errno {
	case unix.ENOENT, unix.ENOTDIR, unix.ENAMETOOLONG, unix.EACCES:
		return r.errno
	case unix.EBADF: // of a path through /proc
		return unix.ENOENT
	case unix.ELOOP:
		if r.certain {
			return unix.ELOOP
		}
	}
	return unix.EPERM
}

// isNamed tells whether a spec names the file: what stands at that path, none
// of it a link, which a program inside could have put there.
func (p *paths) isNamed(names []string, id inode) bool {
	for _, name := range names {
		fd, e := openat2(p.root, append([]byte(name), 0), true, beneath|unix.RESOLVE_NO_SYMLINKS)
		if e != 0 {
			continue
		}
		named, _, e := inodeOf(fd)
		unix.Close(fd)
		if e == 0 && named == id {
			return true
		}
	}
	return false
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
