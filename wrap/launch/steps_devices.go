package launch

import (
	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// Device is a standard stream of the caller's that is one of the devices in the sandbox's
// own /dev.
type Device struct {
	FD    int
	Path  string // its path in the new tree
	Flags int    // the flags with which the caller opened it
}

// openDevice opens a device of the sandbox's own /dev to replace the caller's standard
// stream. It does so as soon as the device's mount exists, since filesystem.hide may cover
// it later. That mount is read-only, while the caller's stream refers to the host's /dev,
// where root inside could change the mode or owner of the device for the whole host.
func (l *mountList) openDevice(path string, devices []Device) {
	for _, d := range devices {
		if d.Path == path {
			l.add(unix.SYS_OPENAT, "openat", fdcwd, text(path), num(d.Flags|unix.O_CLOEXEC|unix.O_NOFOLLOW)).Save = slotStream + Slot(d.FD)
		}
	}
}

// terminals opens terminals in a new devpts, which numbers them, and keeps the last one for
// the supervisor. Its name exists as long as it is open, and it stays locked. If the host
// provides no terminals the sandbox does without.
func (l *mountList) terminals(m *wrap.Mount) {
	if m.Own == 0 {
		return
	}
	made := make([]Slot, m.Own)
	for i := range made {
		if made[i] = slotTerminal; i < m.Own-1 {
			made[i] = l.slot()
		}
		s := l.add(unix.SYS_OPENAT, "openat", fdcwd, text(m.Target+"/ptmx"), num(unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC))
		s.Save, s.Expected, s.Skip = made[i], anyErrno, uint8(m.Own-1-i)
	}
	for _, s := range made[:m.Own-1] {
		l.close(s)
		l.steps[len(l.steps)-1].Expected = Errno(unix.EBADF)
	}
}
