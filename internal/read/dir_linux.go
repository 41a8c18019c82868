package read

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// dirBuffer is the size of one getdents64(2) read in bytes, on the order of glibc's readdir.
const dirBuffer = 16 << 10

// Dir reads directories, one at a time, into a buffer that it reuses.
type Dir struct{ buf []byte }

// Each calls each for every name in the directory fd, in the kernel's order, until each
// returns false. A name is valid only during the call; each must not read another directory
// with the same Dir. dtype is one of unix.DT_*.
func (d *Dir) Each(fd int, each func(name []byte, dtype byte) bool) error {
	for {
		part, err := d.Part(fd)
		if len(part) == 0 || !Names(part, each) {
			return err
		}
	}
}

// Each calls each for the names in the directory at path, as Dir.Each does.
func Each(path string, each func(name []byte, dtype byte) bool) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return new(Dir).Each(fd, each)
}

// Part returns the next raw entries of the directory fd, for Names; empty at the end and on
// an error. The next call overwrites them.
func (d *Dir) Part(fd int) ([]byte, error) {
	if d.buf == nil {
		d.buf = make([]byte, dirBuffer)
	}
	for {
		n, err := unix.Getdents(fd, d.buf)
		if err == unix.EINTR {
			continue
		}
		return d.buf[:max(n, 0)], err
	}
}

// Names calls each for every name in a Part, until each returns false; it returns false then.
func Names(part []byte, each func(name []byte, dtype byte) bool) bool {
	for {
		name, dtype, rest := Next(part)
		if name == nil {
			return true
		}
		if !each(name, dtype) {
			return false
		}
		part = rest
	}
}

// Next returns the first name in a Part and the remaining entries; it skips "." and "..".
// At the end name is nil; a non-empty rest then means that the entries are malformed.
func Next(part []byte) (name []byte, dtype byte, rest []byte) {
	const head = 8 + 8 + 2 + 1 // getdents64(2): inode, offset, length, type, then the name with a null
	for len(part) > 0 {
		if len(part) <= head {
			return nil, 0, part
		}
		size := int(part[16]) | int(part[17])<<8
		if size <= head || size > len(part) {
			return nil, 0, part
		}
		name, dtype, part = part[head:size], part[18], part[size:]
		if end := bytes.IndexByte(name, 0); end >= 0 {
			name = name[:end]
		}
		if s := string(name); s != "" && s != "." && s != ".." {
			return name, dtype, part
		}
	}
	return nil, 0, nil
}
