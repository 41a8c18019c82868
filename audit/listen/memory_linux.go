package listen

import (
	"golang.org/x/sys/unix"
)

// memory answers memfd_create(name, flags) without MFD_NOEXEC_SEAL: the file is
// made here with it, and handed in. It is as good as any to keep data in and to
// map code from; what it cannot be is executed as a program.
func (l *Listener) memory() {
	name, e := l.readInto(l.call.Args[0], l.path[:])
	switch e {
	case 0:
	case unix.EFAULT:
		l.n.Fail(l.FD, e)
		return
	case unix.ENAMETOOLONG:
		l.n.Fail(l.FD, unix.EINVAL)
		return
	default: // not to be read
		l.n.Fail(l.FD, unix.EPERM)
		return
	}
	flags := uint32(l.call.Args[1])
	fd, err := unix.MemfdCreate(text(name), int(flags&^unix.MFD_EXEC|unix.MFD_NOEXEC_SEAL|unix.MFD_CLOEXEC))
	if err != nil {
		l.n.Fail(l.FD, errno(err))
		return
	}
	defer unix.Close(fd)
	if flags&unix.MFD_ALLOW_SEALING == 0 { // which the kernel's flag implies
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SEAL); err != nil {
			l.n.Fail(l.FD, errno(err))
			return
		}
	}
	if e := l.n.Give(l.FD, fd, flags&unix.MFD_CLOEXEC != 0); e != 0 && e != unix.ENOENT {
		l.n.Fail(l.FD, e) // it has as many descriptors as it may
	}
}

func errno(err error) unix.Errno {
	if e, ok := err.(unix.Errno); ok {
		return e
	}
	return unix.EPERM
}
