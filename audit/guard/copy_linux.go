package guard

import (
	"golang.org/x/sys/unix"

	"sbx/internal/dirs"
	"sbx/internal/sys"
)

// The bounds of one copy, which a move to another file system needs. All copies of a sweep together
// may be maxCopies times as large.
const (
	maxCopies    = 4
	maxCopyBytes = 256 << 20
	maxCopyNames = 20_000
	maxCopyDepth = 40
)

// copier copies files, directories and symbolic links by descriptors and within bounds. It follows
// no link and keeps the holes of files. It leaves out devices, FIFOs and sockets. bytes and names
// are how much it may still copy.
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
		return c.dir(from, name, to, as, depth)
	}
	return nil
}

func (c *copier) file(from int, name string, to int, as string) error {
	in, err := dirs.Open(from, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	defer dirs.Close(in)
	out, err := dirs.Open(to, as, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer dirs.Close(out)
	var st unix.Stat_t
	if err = unix.Fstat(in, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil // replaced at this moment by something that is left out
	}
	buf := make([]byte, 64<<10)
	for at := int64(0); at < st.Size; {
		from, to := dirs.NextData(in, at, st.Size)
		if at, err = unix.Seek(out, from, unix.SEEK_SET); err != nil {
			return err
		}
		for at < to {
			n, err := dirs.ReadAt(in, buf[:min(int64(len(buf)), to-at)], at)
			if err != nil {
				return err
			}
			if n == 0 { // the file has become shorter
				return unix.Ftruncate(out, at)
			}
			if c.bytes -= int64(n); c.bytes < 0 {
				return unix.EFBIG
			}
			if err = sys.WriteAll(out, buf[:n]); err != nil {
				return err
			}
			at += int64(n)
		}
	}
	return unix.Ftruncate(out, st.Size)
}

func (c *copier) dir(from int, name string, to int, as string, depth int) error {
	in, err := dirs.OpenReadable(from, name)
	if err != nil {
		return err
	}
	defer dirs.Close(in)
	if err = unix.Mkdirat(to, as, 0o700); err != nil {
		return err
	}
	out, err := dirs.OpenBeneath(to, as, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer dirs.Close(out)
	f := dirs.Reader{FD: in, Buf: make([]byte, 8<<10)}
	for e, ok := f.Next(); ok; e, ok = f.Next() {
		sub := string(e.Name)
		if err = c.copy(in, sub, out, sub, depth+1); err != nil {
			return err
		}
	}
	return f.Err
}
