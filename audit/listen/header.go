package listen

import (
	"bytes"

	"golang.org/x/sys/unix"
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

// isELF tells whether a file is a program by its first bytes.
func isELF(h []byte) bool { return bytes.HasPrefix(h, []byte("\x7fELF")) }

// isScript tells whether a file names its interpreter.
func isScript(h []byte) bool { return bytes.HasPrefix(h, []byte("#!")) }

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
