package listen

import "golang.org/x/sys/unix"

// rule rules on bind(fd, address, length). It goes on: nothing but a protected
// name is refused, and what the socket is bound to is asked of the socket. So a
// program that changes descriptor or address meanwhile has a socket that nobody
// remembers.
func (b *binder) rule() {
	var a address
	length := int32(b.call.Args[2])
	if length < 0 || length > maxAddress {
		b.proceed()
		return
	}
	switch e := b.readAddress(&a, b.call.Args[1], int(length)); e {
	case 0:
	case unix.EFAULT, unix.ESRCH: // the kernel might read what others cannot
		b.fail(b.badAddress())
		return
	default:
		b.fail(unix.EPERM)
		return
	}
	within := b.narrowing.narrows()
	b.narrowing.bindsBeneath(within)
	if path := a.path(); path != nil && !b.bindPath(path, within) {
		b.fail(unix.EPERM)
		return
	}
	b.proceed()
}

// badAddress is the kernel's answer to a bind whose address cannot be read: the
// descriptor is looked at first.
func (b *binder) badAddress() unix.Errno {
	if b.copies.discards.full() {
		return unix.EFAULT
	}
	sock, e := b.copies.socketOf(int32(b.call.Args[0]))
	if e != 0 {
		return e
	}
	defer b.copies.discards.add(sock)
	if _, e := optionOf(sock, unix.SO_DOMAIN); e == unix.ENOTSOCK {
		return e
	}
	return unix.EFAULT
}

// bindPath rules on the name at which a socket would come into being, and takes
// note of the socket.
func (b *binder) bindPath(path []byte, within []*narrowed) bool {
	work := &b.work[0]
	d := b.entryAt(unix.AT_FDCWD, work.path[:copy(work.path[:], path)], work, stays)
	defer d.close()
	switch {
	case !d.exists && b.rules.stops(&d):
		b.report(ByName, makeSocket, d.text())
		return false
	case !d.exists && b.rules.fixed(&d):
		b.report(ReadOnly, makeSocket, d.text())
		return true
	case d.exists: // EADDRINUSE
		return true
	}
	if b.copies.discards.full() { // then it is not remembered
		return true
	}
	sock, e := b.copies.socketOf(int32(b.call.Args[0]))
	if e != 0 {
		return e != unix.EPERM
	}
	if domain, e := optionOf(sock, unix.SO_DOMAIN); e == 0 && domain == unix.AF_UNIX {
		if at, e := boundTo(sock); e == unix.ENOENT {
			for _, n := range within {
				if own, err := unix.FcntlInt(uintptr(sock), unix.F_DUPFD_CLOEXEC, 0); err == nil {
					n.made.expect(own, &b.copies.discards)
				}
			}
			b.bound.expect(sock, &b.copies.discards)
			b.clock.within(b.bound.wait)
			return true
		} else if e == 0 { // by whomever; the kernel refuses it another
			unix.Close(at)
		}
	}
	b.copies.discards.add(sock)
	return true
}
