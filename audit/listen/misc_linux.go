package listen

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// foreign tells whether a file that begins so may be of a format that was
// registered with the kernel (binfmt_misc). Where the handlers cannot be seen,
// text alone is certain to have none: they go by bytes that text does not begin
// with, but for the rare ones that go by a name's ending.
func foreign(h []byte) bool {
	var buf [8192]byte
	if n := readFile("/proc/filesystems", buf[:]); n > 0 && !bytes.Contains(buf[:n], []byte("\tbinfmt_misc\n")) {
		return false // not even loaded
	}
	const dir = "/proc/sys/fs/binfmt_misc"
	n := readFile(dir+"/status", buf[:])
	if n <= 0 { // not mounted here
		return !plain(h)
	}
	return bytes.HasPrefix(buf[:n], []byte("enabled")) && entries(dir, buf[:]) != 2 // register and status
}

// entries counts the names in a folder, of which there are few.
func entries(dir string, buf []byte) int {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	defer unix.Close(fd)
	n, err := unix.Getdents(fd, buf)
	if err != nil {
		return -1
	}
	_, count, _ := unix.ParseDirent(buf[:n], -1, nil)
	return count
}

func readFile(path string, buf []byte) int {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, buf)
	if err != nil {
		return -1
	}
	return n
}
