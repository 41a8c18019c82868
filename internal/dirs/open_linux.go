package dirs

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Open opens name in the directory dir, as openat(2) does. It always sets O_CLOEXEC and
// repeats a call that a signal interrupts.
func Open(dir int, name string, flags int, perm uint32) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags|unix.O_CLOEXEC, perm)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// Close closes a descriptor that was only read from or held open. It drops the error: the
// descriptor is released either way.
func Close(fd int) { _ = unix.Close(fd) }

// OpenReal opens an absolute path whose symbolic links are already resolved, and fails if
// one has been put into the path since.
func OpenReal(path string, flags int) (int, error) {
	return openUnlinked(unix.AT_FDCWD, path, flags, 0)
}

// OpenAcross is OpenBeneath, but enters other mounts. Without openat2 only the last component
// of rel is known not to be a symbolic link.
func OpenAcross(dir int, rel string, flags int) (int, error) {
	return openUnlinked(dir, rel, flags, unix.RESOLVE_BENEATH|unix.RESOLVE_NO_MAGICLINKS)
}

func openUnlinked(dir int, path string, flags int, resolve uint64) (int, error) {
	how := unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC | unix.O_NOFOLLOW), Resolve: unix.RESOLVE_NO_SYMLINKS | resolve}
	for {
		fd, err := unix.Openat2(dir, path, &how)
		switch err {
		case unix.EINTR:
		case unix.ENOSYS, unix.EPERM: // before Linux 5.6, or a syscall filter around sbx
			return Open(dir, path, flags|unix.O_NOFOLLOW, 0)
		default:
			return fd, err
		}
	}
}

// OpenBeneath opens rel, a path under dir without "..". It follows no symbolic link in any
// component and enters no other mount. "" is dir itself.
func OpenBeneath(dir int, rel string, flags int) (int, error) {
	if rel == "" {
		rel = "."
	}
	how := unix.OpenHow{
		Flags:   uint64(flags | unix.O_CLOEXEC | unix.O_NOFOLLOW),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_MAGICLINKS,
	}
	for tries := 0; ; tries++ {
		fd, err := unix.Openat2(dir, rel, &how)
		switch err {
		case unix.EINTR:
		case unix.EAGAIN: // a rename ran at the same time, see RESOLVE_BENEATH in openat2(2)
			if tries > 100 {
				return -1, err
			}
		case unix.ENOSYS, unix.EPERM: // before Linux 5.6, or a syscall filter around sbx
			return openByStep(dir, rel, flags)
		default:
			return fd, err
		}
	}
}

// openByStep is OpenBeneath without openat2: it opens one component at a time.
func openByStep(dir int, rel string, flags int) (int, error) {
	var top unix.Stat_t
	if err := unix.Fstat(dir, &top); err != nil {
		return -1, err
	}
	at, name := dir, rel
	for {
		var rest string
		step := flags | unix.O_NOFOLLOW
		name, rest, _ = strings.Cut(name, "/")
		if rest != "" {
			step = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW
		}
		fd, err := Open(at, name, step, 0)
		if at != dir {
			Close(at)
		}
		if err != nil {
			return -1, err
		}
		var st unix.Stat_t
		if err = unix.Fstat(fd, &st); err == nil && st.Dev != top.Dev {
			err = unix.EXDEV
		}
		if err == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
			err = unix.ELOOP // O_PATH with O_NOFOLLOW opens the link itself
		}
		if err != nil {
			Close(fd)
			return -1, err
		}
		if rest == "" {
			return fd, nil
		}
		at, name = fd, rest
	}
}

// OpenRealDir is OpenReal for a directory, as O_PATH.
func OpenRealDir(path string) (int, error) { return OpenReal(path, unix.O_PATH|unix.O_DIRECTORY) }

// OpenReadable opens a directory for reading. If its mode forbids that, OpenReadable first
// gives the owner all rights: it is for directories whose mode no longer matters.
func OpenReadable(dir int, name string) (int, error) {
	fd, err := OpenBeneath(dir, name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err == unix.EACCES && AllowOwner(dir, name) {
		fd, err = OpenBeneath(dir, name, unix.O_RDONLY|unix.O_DIRECTORY)
	}
	return fd, err
}

// AllowOwner sets the mode of a directory to 0700 and reports whether it could.
func AllowOwner(dir int, name string) bool {
	fd, err := OpenBeneath(dir, name, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return false
	}
	defer Close(fd)
	return unix.Chmod(FDPath(fd), 0o700) == nil
}

// FDPath returns a path that leads to the open file of a descriptor, even an O_PATH one.
func FDPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// Join appends a name to a relative path; "" is the directory that paths are relative to.
func Join(rel, name string) string {
	if rel == "" {
		return name
	}
	return rel + "/" + name
}
