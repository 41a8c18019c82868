package audit

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// The bounds of a copy, which a move from another mount is, and how many as large as
// that a sweep makes.
const (
	maxCopies    = 4
	maxCopyBytes = 256 << 20
	maxCopyNames = 20_000
	maxCopyDepth = 40
)

// copier copies within bounds, by descriptors, following nothing: files,
// directories, and links as links; of files what is no hole. Devices, FIFOs and sockets are
// dropped.
type copier struct {
	bytes int64
	names int
}

func (c *copier) copy(from int, name string, to int, as string, depth int) error {
	if c.names--; c.names < 0 {
		return unix.EMLINK
	}
	if depth > maxCopyDepth {
		return unix.ENAMETOOLONG
	}
	var st unix.Stat_t
	if err := unix.Fstatat(from, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return c.file(from, name, to, as)
	case unix.S_IFLNK:
		buf := make([]byte, unix.PathMax)
		n, err := unix.Readlinkat(from, name, buf)
		if err != nil {
			return err
		}
		return unix.Symlinkat(string(buf[:n]), to, as)
	case unix.S_IFDIR:
		return c.folder(from, name, to, as, depth)
	}
	return nil
}

func (c *copier) file(from int, name string, to int, as string) error {
	in, err := openat(from, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	defer closeFD(in)
	out, err := openat(to, as, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer closeFD(out)
	var st unix.Stat_t
	if err = unix.Fstat(in, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil // swapped meanwhile for something that is dropped
	}
	buf := make([]byte, 64<<10)
	for at := int64(0); at < st.Size; {
		from, to := dataAt(in, at, st.Size)
		if at, err = unix.Seek(out, from, unix.SEEK_SET); err != nil {
			return err
		}
		for at < to {
			n, err := pread(in, buf[:min(int64(len(buf)), to-at)], at)
			if err != nil {
				return err
			}
			if n == 0 { // it is shorter by now
				return unix.Ftruncate(out, at)
			}
			if c.bytes -= int64(n); c.bytes < 0 {
				return unix.EFBIG
			}
			if err = writeAll(out, buf[:n]); err != nil {
				return err
			}
			at += int64(n)
		}
	}
	return unix.Ftruncate(out, st.Size)
}

func (c *copier) folder(from int, name string, to int, as string, depth int) error {
	in, err := openReadable(from, name)
	if err != nil {
		return err
	}
	defer closeFD(in)
	if err = unix.Mkdirat(to, as, 0o700); err != nil {
		return err
	}
	out, err := openBeneath(to, as, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer closeFD(out)
	f := folder{fd: in, buf: make([]byte, 8<<10)}
	for e, ok := f.next(); ok; e, ok = f.next() {
		sub := string(e.name)
		if err = c.copy(in, sub, out, sub, depth+1); err != nil {
			return err
		}
	}
	return f.err
}

// openReadable opens a directory, and makes it readable to its owner where it
// must: it was moved away from where its mode meant anything.
func openReadable(dir int, name string) (int, error) {
	fd, err := openBeneath(dir, name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err == unix.EACCES && openMode(dir, name) {
		fd, err = openBeneath(dir, name, unix.O_RDONLY|unix.O_DIRECTORY)
	}
	return fd, err
}

// removeAll removes name beneath dir with all that it holds, within a bound.
func removeAll(dir int, name string, names int) error {
	r := remover{names: names}
	return r.tree(dir, name, 0)
}

// remover removes a directory. What lies deeper than descriptors go is moved up to top, the
// directory itself, and removed from there.
type remover struct{ names, top, raised int }

func (r *remover) tree(dir int, name string, depth int) error {
	if r.names--; r.names < 0 {
		return unix.EMLINK
	}
	err := unix.Unlinkat(dir, name, 0)
	if err != unix.EISDIR {
		return err
	}
	fd, err := openReadable(dir, name)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	_ = unix.Fchmod(fd, 0o700) // or nothing in it is removed, nor it moved, where its mode forbids that
	if depth > maxCopyDepth {
		return r.raise(dir, name)
	}
	if depth == 0 {
		r.top = fd
	}
	for before := -1; before != r.raised; { // at the top once more for what came up
		before = r.raised
		if err := r.content(fd, depth); err != nil {
			return err
		}
		if depth > 0 {
			break
		}
	}
	return unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
}

func (r *remover) content(fd, depth int) error {
	if _, err := unix.Seek(fd, 0, unix.SEEK_SET); err != nil {
		return err
	}
	var list []string
	f := folder{fd: fd, buf: make([]byte, 8<<10)}
	for e, ok := f.next(); ok && len(list) <= r.names; e, ok = f.next() {
		list = append(list, string(e.name))
	}
	for _, sub := range list {
		if err := r.tree(fd, sub, depth+1); err != nil {
			return err
		}
	}
	return f.err
}

func (r *remover) raise(dir int, name string) error {
	for {
		r.raised++
		err := unix.Renameat2(dir, name, r.top, "raised-"+strconv.Itoa(r.raised), unix.RENAME_NOREPLACE)
		if err != unix.EEXIST {
			return err
		}
	}
}
