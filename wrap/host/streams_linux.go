package host

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// terminalName returns the caller's terminal if a standard stream is one; "" for none.
func terminalName() string {
	for fd := range 3 {
		if _, err := unix.IoctlGetTermios(fd, unix.TCGETS); err != nil {
			continue
		}
		var st, at unix.Stat_t
		name := pathOf(fd)
		if !strings.HasPrefix(name, "/dev/") || unix.Fstat(fd, &st) != nil || unix.Lstat(name, &at) != nil || at.Dev != st.Dev || at.Ino != st.Ino {
			continue // the terminal of another mount namespace
		}
		return name
	}
	return ""
}

// streams describes the caller's standard streams.
func streams() (list []wrap.Stream) {
	for fd := range 3 {
		var st unix.Stat_t
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil || flags&unix.O_PATH != 0 || unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT == unix.S_IFDIR {
			continue
		}
		access := flags & unix.O_ACCMODE
		list = append(list, wrap.Stream{FD: fd, Read: access == unix.O_RDONLY || access == unix.O_RDWR, Write: access == unix.O_WRONLY || access == unix.O_RDWR})
	}
	return list
}
