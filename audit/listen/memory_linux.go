package listen

import (
	"golang.org/x/sys/unix"
)

// create answers memfd_create(name, flags) without MFD_NOEXEC_SEAL: the file is
// made here with it, and handed in. It is as good as any to keep data in and to
// map code from; what it cannot be is executed as a program.
func (m *memfds) create() {
	name, e := m.readInto(m.call.Args[0], m.path[:])
	switch e {
	case 0:
	case unix.EFAULT:
		m.fail(e)
		return
	case unix.ENAMETOOLONG:
		m.fail(unix.EINVAL)
		return
	default: // not to be read
		m.fail(unix.EPERM)
		return
	}
	flags := uint32(m.call.Args[1])
	fd, err := unix.MemfdCreate(text(name), int(flags&^unix.MFD_EXEC|unix.MFD_NOEXEC_SEAL|unix.MFD_CLOEXEC))
	if err != nil {
		m.fail(errno(err))
		return
	}
	defer unix.Close(fd)
	if flags&unix.MFD_ALLOW_SEALING == 0 { // which the kernel's flag implies
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SEAL); err != nil {
			m.fail(errno(err))
			return
		}
	}
	if e := m.give(fd, flags&unix.MFD_CLOEXEC != 0); e != 0 && e != unix.ENOENT {
		m.fail(e) // it has as many descriptors as it may
	}
}

func errno(err error) unix.Errno {
	if e, ok := err.(unix.Errno); ok {
		return e
	}
	return unix.EPERM
}
