package audit

import (
	"strings"

	"sbx/internal/read"

	"golang.org/x/sys/unix"
)

// openat opens name beneath dir. CLOEXEC is always set, and a call that a
// signal interrupts is made again.
func openat(dir int, name string, flags int, perm uint32) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags|unix.O_CLOEXEC, perm)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// closeFD closes what was only read or held: there is nothing to do about an
// error, and the descriptor is gone either way.
func closeFD(fd int) { _ = unix.Close(fd) }

// OpenReal opens an absolute path in which no link stands; one that was put there since
// it was resolved is refused.
func OpenReal(path string, flags int) (int, error) {
	how := unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC | unix.O_NOFOLLOW), Resolve: unix.RESOLVE_NO_SYMLINKS}
	for {
		fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
		switch err {
		case unix.EINTR:
		case unix.ENOSYS, unix.EPERM: // a filter around us
			return openat(unix.AT_FDCWD, path, flags|unix.O_NOFOLLOW, 0)
		default:
			return fd, err
		}
	}
}

// openBeneath opens rel, which is beneath dir and has no "..", following no
// link in any component and entering no other mount. "" is dir itself.
func openBeneath(dir int, rel string, flags int) (int, error) {
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
		case unix.EAGAIN: // a rename ran beside it, openat2(2): BENEATH
			if tries > 100 {
				return -1, err
			}
		case unix.ENOSYS, unix.EPERM: // before Linux 5.6, or a filter around us
			return openSteps(dir, rel, flags)
		default:
			return fd, err
		}
	}
}

// openSteps is openBeneath for kernels without openat2: a component a time.
func openSteps(dir int, rel string, flags int) (int, error) {
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
		fd, err := openat(at, name, step, 0)
		if at != dir {
			closeFD(at)
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
			closeFD(fd)
			return -1, err
		}
		if rest == "" {
			return fd, nil
		}
		at, name = fd, rest
	}
}

// openFolder opens the directory at an absolute path with no link on the way.
func openFolder(path string) (int, error) { return OpenReal(path, unix.O_PATH|unix.O_DIRECTORY) }

// readFull reads until buf is full or the file ends.
func readFull(fd int, buf []byte) (int, error) {
	n := 0
	for n < len(buf) {
		m, err := unix.Read(fd, buf[n:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return n, err
		}
		if m == 0 {
			break
		}
		n += m
	}
	return n, nil
}

func pread(fd int, buf []byte, at int64) (int, error) {
	for {
		n, err := unix.Pread(fd, buf, at)
		if err != unix.EINTR {
			return n, err
		}
	}
}

// dataAt is the next part of a file, from a place on, that is no hole. Where the file
// system does not tell, all is.
func dataAt(fd int, at, size int64) (from, to int64) {
	from, err := unix.Seek(fd, at, unix.SEEK_DATA)
	switch {
	case err == unix.ENXIO:
		return size, size
	case err != nil:
		return at, size
	}
	to, err = unix.Seek(fd, from, unix.SEEK_HOLE)
	if from = min(max(from, at), size); err != nil || to <= from {
		to = size
	}
	return from, min(to, size)
}

// writeAll writes all of b.
func writeAll(fd int, b []byte) error {
	for len(b) > 0 {
		n, err := unix.Write(fd, b)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// folder reads the entries of an open directory, a buffer at a time.
type folder struct {
	fd  int
	buf []byte
	at  int
	end int
	err error
}

// entry is one name of a directory. The name is valid until the next entry.
type entry struct {
	name []byte
	kind byte // unix.DT_DIR and its like; DT_UNKNOWN on some file systems
}

// next gives the next entry but "." and "..".
func (f *folder) next() (entry, bool) {
	for {
		name, kind, rest := read.Next(f.buf[f.at:f.end])
		f.at = f.end - len(rest)
		switch {
		case name != nil:
			return entry{name, kind}, true
		case len(rest) > 0:
			f.err = unix.EIO
			return entry{}, false
		case !f.fill():
			return entry{}, false
		}
	}
}

func (f *folder) fill() bool {
	for {
		n, err := unix.Getdents(f.fd, f.buf)
		if err == unix.EINTR {
			continue
		}
		f.at, f.end, f.err = 0, max(n, 0), err
		return err == nil && n > 0
	}
}

// join puts a name beneath a relative directory.
func join(rel, name string) string {
	if rel == "" {
		return name
	}
	return rel + "/" + name
}
