package dirstest

import (
	"testing"

	"golang.org/x/sys/unix"
)

// Deepen makes nested directories, each called name, by descriptors: their path may be
// longer than any system call takes. It returns a descriptor of the innermost.
func Deepen(t *testing.T, dir, name string, levels int) int {
	t.Helper()
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range levels {
		if err := unix.Mkdirat(fd, name, 0o755); err != nil {
			t.Fatal(err)
		}
		next, err := unix.Openat(fd, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		unix.Close(fd)
		fd = next
	}
	return fd
}

// Levels is a number of nested directories that no path can name.
func Levels() int {
	if testing.Short() {
		return 2200
	}
	return 5000
}
