package listen

import (
	"bytes"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// headSize is what the kernel reads of a file to tell its format
// (BINPRM_BUF_SIZE of linux/binfmts.h).
const headSize = 256

// fileID is a file with its content, as far as that can be told without
// reading it.
type fileID struct {
	dev, ino   uint64
	size       int64
	ctim, mtim unix.Timespec
}

// interpreter is the path that a script's first line names, a NUL at its end;
// nil where the kernel finds none (load_script of Linux).
func interpreter(h []byte) []byte {
	line, _, whole := bytes.Cut(h[2:], []byte{'\n'})
	line = bytes.TrimLeft(line, " \t")
	if i := bytes.IndexAny(line, " \t\x00"); i >= 0 {
		line, whole = line[:i], true
	}
	// A name that the header cuts off is refused; a short file ends its line.
	if len(line) == 0 || !whole && len(h) == headSize {
		return nil
	}
	return append(append(make([]byte, 0, len(line)+1), line...), 0)
}

// plain tells whether a header is text.
func plain(h []byte) bool {
	for _, c := range h {
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' && c != '\f' || c == 0x7f {
			return false
		}
	}
	return true
}

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
