package dirs

import (
	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// Reader reads the entries of the open directory FD through Buf.
type Reader struct {
	FD  int
	Buf []byte
	at  int   // of Buf, the entry that is next
	end int   // of Buf, where the entries end
	Err error // of the last read, nil at the end of the directory
}

// Entry is one name in a directory. Name is valid until the next call of Next or Fill.
type Entry struct {
	Name []byte
	Kind byte // unix.DT_DIR, unix.DT_LNK and so on; unix.DT_UNKNOWN on some file systems
}

// Next returns the next entry, skipping "." and "..". ok is false at the end and on an error.
func (f *Reader) Next() (e Entry, ok bool) {
	for {
		name, kind, rest := read.Next(f.Buf[f.at:f.end])
		f.at = f.end - len(rest)
		switch {
		case name != nil:
			return Entry{name, kind}, true
		case len(rest) > 0:
			f.Err = unix.EIO
			return Entry{}, false
		case !f.Fill():
			return Entry{}, false
		}
	}
}

// Fill reads the next entries into the buffer and reports whether there were any.
func (f *Reader) Fill() bool {
	for {
		n, err := unix.Getdents(f.FD, f.Buf)
		if err == unix.EINTR {
			continue
		}
		f.at, f.end, f.Err = 0, max(n, 0), err
		return err == nil && n > 0
	}
}

// Buffered reports whether Next can return an entry without reading more of the directory.
func (f *Reader) Buffered() bool { return f.at < f.end }
