package listen

import (
	"bytes"

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
	handlers := -2 // register and status are none
	err := read.Each(dir, func([]byte, byte) bool { handlers++; return true })
	return bytes.HasPrefix(status, []byte("enabled")) && (err != nil || handlers != 0)
}
