package listen

import "golang.org/x/sys/unix"

// bind rules on bind(fd, address, length). It goes on: nothing but a protected
// name is refused, and what the socket is bound to is asked of the socket. So a
// program that changes descriptor or address meanwhile has a socket that nobody
// remembers.
func (l *Listener) bind() {
	if !l.Sockets {
		l.proceed()
		return
	}
	var a address
	length := int32(l.call.Args[2])
	if length < 0 || length > maxAddress {
		l.proceed()
		return
	}
	switch e := l.readAddress(&a, l.call.Args[1], int(length)); e {
	case 0:
	case unix.EFAULT, unix.ESRCH: // the kernel might read what others cannot
		l.n.Fail(l.FD, l.badAddress())
		return
	default:
		l.n.Fail(l.FD, unix.EPERM)
		return
	}
	within := l.narrows()
	l.bindsBeneath(within)
	if path := a.path(); path != nil && !l.bindPath(path, within) {
		l.n.Fail(l.FD, unix.EPERM)
		return
	}
	l.proceed()
}

// badAddress is the kernel's answer to a bind whose address cannot be read: the
// descriptor is looked at first.
func (l *Listener) badAddress() unix.Errno {
	if l.discards.full() {
		return unix.EFAULT
	}
	sock, e := l.socketOf(int32(l.call.Args[0]))
	if e != 0 {
		return e
	}
	defer l.discards.add(sock)
	if _, e := optionOf(sock, unix.SO_DOMAIN); e == unix.ENOTSOCK {
		return e
	}
	return unix.EFAULT
}

// bindPath rules on the name at which a socket would come into being, and takes
// note of the socket.
func (l *Listener) bindPath(path []byte, within []*narrowed) bool {
	b := &l.work[0]
	d := l.landAt(unix.AT_FDCWD, b.path[:copy(b.path[:], path)], b, stays)
	defer d.close()
	switch {
	case !d.exists && l.stops(&d):
		l.report(ByName, makeSocket, d.text())
		return false
	case !d.exists && l.fixed(&d):
		l.report(ReadOnly, makeSocket, d.text())
		return true
	case d.exists: // EADDRINUSE
		return true
	}
	if l.discards.full() { // then it is not remembered
		return true
	}
	sock, e := l.socketOf(int32(l.call.Args[0]))
	if e != 0 {
		return e != unix.EPERM
	}
	if domain, e := optionOf(sock, unix.SO_DOMAIN); e == 0 && domain == unix.AF_UNIX {
		if at, e := boundTo(sock); e == unix.ENOENT {
			for _, n := range within {
				if own, err := unix.FcntlInt(uintptr(sock), unix.F_DUPFD_CLOEXEC, 0); err == nil {
					n.made.expect(own, &l.discards)
				}
			}
			l.made.expect(sock, &l.discards)
			l.clock.within(l.made.wait)
			return true
		} else if e == 0 { // by whomever; the kernel refuses it another
			unix.Close(at)
		}
	}
	l.discards.add(sock)
	return true
}
