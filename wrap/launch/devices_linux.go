package launch

import (
	"slices"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// devices returns the standard streams that are devices of the host's /dev, if the command is
// root.
func devices(p *wrap.Plan, o Options) (list []Device) {
	if o.KeepAll || !slices.Contains(p.Caps, wrap.CapFowner) {
		return nil // an ordinary user cannot change these devices
	}
	for fd := range 3 {
		var st unix.Stat_t
		if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFCHR {
			continue
		}
		path := p.Staged(devicePath(st.Rdev))
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err == nil && hasDevice(p, path) {
			list = append(list, Device{FD: fd, Path: path, Flags: flags & (unix.O_ACCMODE | unix.O_APPEND | unix.O_NONBLOCK)})
		}
	}
	return list
}

// memoryDevices are the devices of major number 1 that a sandbox has in its /dev, by their
// minor numbers (Documentation/admin-guide/devices.txt of Linux). A terminal is not
// among them: it belongs to the caller.
var memoryDevices = [...]string{3: "/dev/null", 5: "/dev/zero", 7: "/dev/full", 8: "/dev/random", 9: "/dev/urandom"}

// devicePath returns the path of one of memoryDevices, "" for any other device.
func devicePath(rdev uint64) string {
	if minor := unix.Minor(rdev); unix.Major(rdev) == 1 && minor < uint32(len(memoryDevices)) {
		return memoryDevices[minor]
	}
	return ""
}

// hasDevice reports whether the sandbox mounts a device at path, in its own /dev.
func hasDevice(p *wrap.Plan, path string) bool {
	return slices.ContainsFunc(p.Mounts, func(m wrap.Mount) bool {
		return m.Target == path && (m.Op == wrap.OpAttach || m.Op == wrap.OpBind)
	})
}
