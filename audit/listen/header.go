package listen

import (
	"bytes"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// headSize is how many bytes of a file the kernel reads to detect its format
// (BINPRM_BUF_SIZE of linux/binfmts.h).
const headSize = 256

// fileID identifies a file and, by size and times, its content.
type fileID struct {
	dev, ino   uint64
	size       int64
	ctim, mtim unix.Timespec
}

// interpreter returns the NUL-terminated path of the interpreter that a script's header h
// names; nil if the kernel would find none (load_script of Linux).
func interpreter(h []byte) []byte {
	line, _, whole := bytes.Cut(h[2:], []byte{'\n'})
	line = bytes.TrimLeft(line, " \t")
	if i := bytes.IndexAny(line, " \t\x00"); i >= 0 {
		line, whole = line[:i], true
	}
	// The kernel rejects a path that is cut off at headSize; in a shorter file its end
	// also ends the line.
	if len(line) == 0 || !whole && len(h) == headSize {
		return nil
	}
	return append(append(make([]byte, 0, len(line)+1), line...), 0)
}

// plain reports whether a header is text, without control characters.
func plain(h []byte) bool {
	for _, c := range h {
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' && c != '\f' || c == 0x7f {
			return false
		}
	}
	return true
}

// foreign reports whether a file with header h may have a format that is registered with
// binfmt_misc. If the registered handlers cannot be read, only text files count as
// certainly not: handlers match bytes that text does not begin with, except the rare ones
// that match a file name's extension.
func foreign(h []byte) bool {
	const most = 8 << 10
	if known, _ := read.Proc("/proc/filesystems", most); len(known) > 0 && !bytes.Contains(known, []byte("\tbinfmt_misc\n")) {
		return false // not even loaded
	}
	const dir = "/proc/sys/fs/binfmt_misc"
	status, _ := read.Proc(dir+"/status", most)
	if len(status) == 0 { // binfmt_misc is not mounted here
		return !plain(h)
	}
	handlers := -2 // the files register and status are no handlers
	err := read.Each(dir, func([]byte, byte) bool { handlers++; return true })
	return bytes.HasPrefix(status, []byte("enabled")) && (err != nil || handlers != 0)
}
