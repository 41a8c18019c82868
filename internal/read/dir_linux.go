package read

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// dirBuffer is as much of a directory as is read at once; glibc's readdir does the same.
const dirBuffer = 16 << 10

// Dir reads directories, one at a time, into one buffer.
type Dir struct{ buf []byte }

// Each calls each for the names in the directory fd, in its order, until that returns
// false or there are no more. A name is good during the call only; each must not read
// another directory with the same Dir. dtype is one of unix.DT_*.
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

// Part is the next part of the directory fd, for Names; empty at its end and at an error.
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

// Names calls each for the names in a part of a directory. It is false where each was.
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

// Next is the first name in a part of a directory, and what is left of that; "." and
// ".." are left out. A nil name is the end, of a broken part where there is a rest.
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
