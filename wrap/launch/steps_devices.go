package launch

import (
	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// Device is a standard stream of the caller's that is one of the devices which a
// sandbox has in a /dev of its own.
type Device struct {
	FD    int
	Path  string // where its mount is put
	Flags int    // that it is open with
}

// openDevice opens a device of the sandbox's own /dev as soon as its mount, which is
// read-only, is there, since filesystem.hide may cover it: what the caller opened
// stands on the host's, where root inside could change a node's mode or owner for the
// whole host.
func (l *mountList) openDevice(path string, devices []Device) {
	for _, d := range devices {
		if d.Path == path {
			l.add(unix.SYS_OPENAT, "openat", fdcwd, text(path), num(d.Flags|unix.O_CLOEXEC|unix.O_NOFOLLOW)).Save = slotStream + Slot(d.FD)
		}
	}
}

// terminals makes terminals in a new devpts, which numbers them, and keeps the last one,
// which stays locked, for the supervisor: its name is there as long as it is open. A
// host on which they cannot be had does without.
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
		s.Save, s.Pass, s.Skip = made[i], anyErrno, uint8(m.Own-1-i)
	}
	for _, s := range made[:m.Own-1] {
		l.close(s)
		l.steps[len(l.steps)-1].Pass = Errno(unix.EBADF)
	}
}
