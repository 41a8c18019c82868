package cgroup

import (
	"strings"

	"golang.org/x/sys/unix"
)

// read is a small file's content; ok is false where it cannot be read.
func read(path string) (string, bool) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", false
	}
	defer unix.Close(fd)
	var b []byte
	for len(b) < 1<<20 {
		if len(b) == cap(b) {
			b = append(make([]byte, 0, 2*len(b)+1024), b...)
		}
		n, err := unix.Read(fd, b[len(b):cap(b)])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return "", false
		}
		if n == 0 {
			break
		}
		b = b[:len(b)+n]
	}
	return string(b), true
}

// write writes all at once, as the files of control groups want it.
func write(path, text string) error {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_TRUNC|unix.O_CLOEXEC, 0)
	if err == nil {
		_, err = unix.Write(fd, []byte(text))
		unix.Close(fd)
	}
	return failed("write", path, err)
}

func exists(path string) bool { return unix.Access(path, unix.F_OK) == nil }

// entries are the names in a folder that are folders.
func entries(dir string) (names []string) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	buf := make([]byte, 16<<10)
	var all []string
	for {
		n, err := unix.Getdents(fd, buf)
		if n <= 0 || err != nil {
			break
		}
		_, _, all = unix.ParseDirent(buf[:n], -1, all)
	}
	for _, name := range all {
		var st unix.Stat_t
		if unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR {
			names = append(names, name)
		}
	}
	return names
}

// first is the first line of a file without its end.
func first(path string) string {
	text, _ := read(path)
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// Error is something that could not be done to a control group.
type Error struct {
	Do, On string
	Err    unix.Errno
}

func (e *Error) Error() string { return e.Do + " " + e.On + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

func failed(do, on string, err error) error {
	if err == nil {
		return nil
	}
	no, ok := err.(unix.Errno)
	if !ok {
		no = unix.EIO
	}
	return &Error{do, on, no}
}
