package dirs

import (
	"crypto/sha256"

	"golang.org/x/sys/unix"

	"sbx/internal/doc"
)

// ReadFull reads until buf is full or the file ends.
func ReadFull(fd int, buf []byte) (int, error) {
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

// ReadAt reads from an offset, as pread(2) does.
func ReadAt(fd int, buf []byte, at int64) (int, error) {
	for {
		n, err := unix.Pread(fd, buf, at)
		if err != unix.EINTR {
			return n, err
		}
	}
}

// NextData returns the first range of a file at or after an offset that is not a hole. On a
// file system that does not report holes the whole rest of the file counts as data.
func NextData(fd int, at, size int64) (from, to int64) {
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

// Digest returns the SHA-256 of an open file, in hex, or "" if the file cannot be read or no
// longer has the given size. Holes are hashed as zeros without being read.
func Digest(fd int, size int64, block []byte) string {
	h := sha256.New()
	for at := int64(0); at < size; {
		from, to := NextData(fd, at, size)
		clear(block)
		for ; at < from; at += min(int64(len(block)), from-at) {
			h.Write(block[:min(int64(len(block)), from-at)])
		}
		for at < to {
			n, err := ReadAt(fd, block[:min(int64(len(block)), to-at)], at)
			if err != nil || n == 0 {
				return ""
			}
			h.Write(block[:n])
			at += int64(n)
		}
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Size != size {
		return ""
	}
	return doc.Hex(h.Sum(nil))
}
