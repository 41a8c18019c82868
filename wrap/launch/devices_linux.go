package launch

import (
	"slices"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// devices are the standard streams that root has from the host's /dev.
func devices(p *wrap.Plan, o Options) (list []Device) {
	if o.KeepAll || !slices.Contains(p.Caps, wrap.CapFowner) {
		return nil // an ordinary user may change none of them
	}
	for fd := range 3 {
		var st unix.Stat_t
		if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFCHR {
			continue
		}
		name, ok := deviceNames[st.Rdev]
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if path := "/dev/" + name; ok && err == nil && hasDevice(p, path) {
			list = append(list, Device{FD: fd, Path: path, Flags: flags & (unix.O_ACCMODE | unix.O_APPEND | unix.O_NONBLOCK)})
		}
	}
	return list
}

// deviceNames are devices by their numbers (Documentation/admin-guide/devices.txt
// of Linux). A terminal is the caller's own.
var deviceNames = map[uint64]string{
	unix.Mkdev(1, 3): "null",
	unix.Mkdev(1, 5): "zero",
	unix.Mkdev(1, 7): "full",
	unix.Mkdev(1, 8): "random",
	unix.Mkdev(1, 9): "urandom",
}

// hasDevice tells whether the sandbox mounts a device in a /dev of its own.
func hasDevice(p *wrap.Plan, path string) bool {
	at := p.Staged(path)
	return slices.ContainsFunc(p.Mounts, func(m wrap.Mount) bool {
		return m.Target == at && (m.Op == wrap.OpAttach || m.Op == wrap.OpBind)
	})
}
