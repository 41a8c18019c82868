package launch

import (
	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// overlay mounts an overlay of Lower under the layer of whiteouts. With Upper it is
// writable: the whiteouts are then in the middle, where no write reaches them, and
// "userxattr" keeps overlayfs from following a redirect in an attribute of a directory
// (redirect_dir, overlayfs(5)).
func (l *mountList) overlay(m *wrap.Mount) {
	flags := unix.MS_NOSUID | unix.MS_NODEV
	options := "lowerdir=" + overlayPath(m.Source) + ":" + overlayPath(m.Lower)
	if m.Upper == "" {
		flags |= unix.MS_RDONLY
	} else {
		options += upperOption + overlayPath(m.Upper) + ",workdir=" + overlayPath(m.Work)
	}
	l.add(unix.SYS_MOUNT, "mount", text("overlay"), text(m.Target), text("overlay"), num(flags), text(options+",userxattr"))
}

// upperOption is in the options of a writable overlay only.
const upperOption = ",upperdir="

// read opens a file for reading, without waiting for a process that has it open.
func (l *mountList) read(m *wrap.Mount) Slot {
	l.on = m.Source
	s := l.slot()
	how := words(unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0, noLinks)
	l.add(unix.SYS_OPENAT2, "openat2", fdcwd, text(m.Source), data(how), num(unix.SizeofOpenHow)).Save = s
	if m.Soft {
		l.steps[len(l.steps)-1].Expected = Errno(unix.ENOENT)
	}
	return s
}

// copyMost is the size limit of one sendfile(2), which copies up to the file's end.
const copyMost = 0x7ffff000

// copy creates a file with the content of an opened one, or no file if that one did not exist.
// The
// kernel copies the content.
func (l *mountList) copy(m *wrap.Mount, from Slot) {
	own := l.slot()
	l.add(unix.SYS_DUP, "dup", kept(from)).Save = own
	first := len(l.steps) - 1
	fd := l.slot()
	l.add(unix.SYS_OPENAT, "openat", fdcwd, text(m.Target),
		num(unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC), num(int(m.Perm))).Save = fd
	l.add(unix.SYS_SENDFILE, "sendfile", kept(fd), kept(own), num(0), num(copyMost))
	l.close(fd)
	l.close(own)
	l.close(from)
	if m.Soft { // the source did not exist
		l.steps[first].Expected = Errno(unix.EBADF)
		l.steps[first].Skip = uint8(len(l.steps) - 1 - first)
	}
}

// overlayPath escapes a path for overlay's options, where ':' separates layers and ','
// options.
func overlayPath(p string) string {
	b := make([]byte, 0, len(p)+4)
	for i := 0; i < len(p); i++ {
		if p[i] == ':' || p[i] == ',' || p[i] == '\\' {
			b = append(b, '\\')
		}
		b = append(b, p[i])
	}
	return string(b)
}
