package cgroup

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// readText returns the contents of a kernel file; "" if it cannot be read.
func readText(path string) string {
	b, _ := read.Proc(path, 1<<20)
	return string(b)
}

// write writes a file with one call, as control groups require.
func write(path, text string) error {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_TRUNC|unix.O_CLOEXEC, 0)
	if err == nil {
		_, err = unix.Write(fd, []byte(text))
		unix.Close(fd)
	}
	return newError("write", path, err)
}

func exists(path string) bool { return unix.Access(path, unix.F_OK) == nil }

// entries returns the subdirectories of a directory.
func entries(dir string) (names []string) {
	_ = read.Each(dir, func(name []byte, dtype byte) bool {
		if dtype == unix.DT_DIR {
			names = append(names, string(name))
		}
		return true
	})
	return names
}

// firstLine returns the first line of a file without its newline.
func firstLine(path string) string {
	line, _, _ := strings.Cut(readText(path), "\n")
	return line
}

// Error is a failed operation on a control group.
type Error struct {
	Do, On string
	Err    unix.Errno
}

func (e *Error) Error() string { return e.Do + " " + e.On + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

func newError(do, on string, err error) error {
	if err == nil {
		return nil
	}
	no, ok := err.(unix.Errno)
	if !ok {
		no = unix.EIO
	}
	return &Error{do, on, no}
}
