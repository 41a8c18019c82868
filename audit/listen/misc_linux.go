package listen

import (
	"bytes"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// foreign tells whether a file that begins so may be of a format that was
// registered with the kernel (binfmt_misc). Where the handlers cannot be seen,
// text alone is certain to have none: they go by bytes that text does not begin
// with, but for the rare ones that go by a name's ending.
func foreign(h []byte) bool {
	const most = 8 << 10
	if known, _ := read.Proc("/proc/filesystems", most); len(known) > 0 && !bytes.Contains(known, []byte("\tbinfmt_misc\n")) {
		return false // not even loaded
	}
	const dir = "/proc/sys/fs/binfmt_misc"
	status, _ := read.Proc(dir+"/status", most)
	if len(status) == 0 { // not mounted here
		return !plain(h)
	}
	return bytes.HasPrefix(status, []byte("enabled")) && entries(dir) != 2 // register and status
}

// entries counts the names in a folder.
func entries(dir string) (n int) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	defer unix.Close(fd)
	var names read.Dir
	_ = names.Each(fd, func([]byte, byte) bool { n++; return true })
	return n
}
