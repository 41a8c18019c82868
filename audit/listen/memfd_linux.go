package listen

import (
	"sbx/internal/sys"

	"golang.org/x/sys/unix"
)

// memfds makes memfds on behalf of the caller.
type memfds struct {
	*caller
	*answers
}

// create answers a memfd_create(name, flags) that lacks MFD_NOEXEC_SEAL: the supervisor
// makes the file with that flag and installs it in the caller. The file can hold data and
// be mapped as code, but cannot be executed as a program.
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
		m.fail(sys.Errno(err))
		return
	}
	defer unix.Close(fd)
	if flags&unix.MFD_ALLOW_SEALING == 0 { // MFD_NOEXEC_SEAL implies that flag
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SEAL); err != nil {
			m.fail(sys.Errno(err))
			return
		}
	}
	if e := m.give(fd, flags&unix.MFD_CLOEXEC != 0); e != 0 && e != unix.ENOENT {
		m.fail(e) // the caller is at its descriptor limit
	}
}
