package listen

import "golang.org/x/sys/unix"

// binder decides binds.
type binder struct {
	*paths
	*answers
	rules     *Rules
	copies    *copies
	narrowing *narrowing
	bound     *boundSockets
	clock     *clock
}

// decide answers bind(fd, address, length). It denies only protected paths and otherwise lets the
// kernel make the call; the listener later asks its copy of the socket to which file the socket was
// bound. A program that swaps the descriptor or the address in between only gets a socket that is
// not remembered, so nobody can connect to it.
func (b *binder) decide() {
	var a address
	switch b.readAddress(&a) {
	case 0:
	case unix.EINVAL:
		b.proceed()
		return
	case unix.EFAULT, unix.ESRCH: // the kernel may read memory that other processes cannot
		b.fail(b.badAddress())
		return
	default:
		b.fail(unix.EPERM)
		return
	}
	within := b.narrowing.ofCaller()
	b.narrowing.noteBind(within)
	if path := a.path(); path != nil && !b.bindPath(path, within) {
		b.fail(unix.EPERM)
		return
	}
	b.proceed()
}

// badAddress returns the errno that the kernel gives a bind whose address is not
// readable. The kernel checks the descriptor first, and so does badAddress.
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

// bindPath decides whether a socket file may be created at path, and keeps a copy of the socket to
// find out later to which file the socket was bound. within are the nested sandboxes that the
// caller is in.
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
	if b.copies.discards.full() { // too many copies: this socket is not remembered
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
					n.sockets.expect(own, &b.copies.discards)
				}
			}
			b.bound.expect(sock, &b.copies.discards)
			b.clock.within(b.bound.wait)
			return true
		} else if e == 0 { // bound already; the kernel denies a second bind
			unix.Close(at)
		}
	}
	b.copies.discards.add(sock)
	return true
}
