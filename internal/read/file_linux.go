package read

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// Regular reads a regular file of at most max bytes. It does not open any other kind of
// file: a FIFO would block, and opening a device may have effects.
func Regular(path string, max int) ([]byte, bool) {
	var st unix.Stat_t
	if unix.Fstatat(unix.AT_FDCWD, path, &st, 0) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size > int64(max) {
		return nil, false
	}
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	defer unix.Close(fd)
	// It may have been replaced in between.
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, false
	}
	return readAll(fd, int(st.Size), max)
}

// Proc reads a file of /proc, whose size stat(2) does not tell, up to max bytes.
func Proc(path string, max int) ([]byte, bool) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	defer unix.Close(fd)
	return readAll(fd, 4095, max)
}

// Lines calls each for every line of a file of /proc, without the newline, and reads the file
// in pieces since it may be long. A line is valid only during the call. It stops after about
// max bytes.
func Lines(path string, max int, each func(line []byte)) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	buf := make([]byte, 16<<10)
	for have := 0; max > 0; {
		n, err := unix.Read(fd, buf[have:])
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return
		}
		have, max = have+n, max-n
		rest := buf[:have]
		for {
			i := bytes.IndexByte(rest, '\n')
			if i < 0 {
				break
			}
			each(rest[:i])
			rest = rest[i+1:]
		}
		if have = copy(buf, rest); have == len(buf) {
			buf = append(buf, make([]byte, len(buf))...)
		}
	}
}

// readAll reads fd to its end; false on an error or if there are more than max bytes. guess
// is the expected size.
func readAll(fd, guess, max int) ([]byte, bool) {
	b := make([]byte, 0, min(guess, max)+1)
	for {
		if len(b) > max {
			return b[:max], false
		}
		if len(b) == cap(b) {
			b = append(b, make([]byte, cap(b))...)[:len(b)]
		}
		n, err := unix.Read(fd, b[len(b):cap(b)])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, false
		}
		if n <= 0 {
			return b, true
		}
		b = b[:len(b)+n]
	}
}

// Link returns the target of the symlink name in directory dir, or "".
func Link(dir int, name string) string {
	var b [4096]byte
	n, err := unix.Readlinkat(dir, name, b[:])
	if err != nil || n <= 0 {
		return ""
	}
	return string(b[:n])
}
