package doc

import "unicode/utf8"

// MaxBytes is the maximal size of a document.
const MaxBytes = 1 << 20

// The other limits of every document.
const (
	maxDepth  = 32
	maxValues = 1 << 16 // 1 MiB could hold eight times as many, which would take too long
)

const tooMany = "more than 65536 values"

// Check rejects texts that neither reader accepts, before they are parsed.
func Check(name string, b []byte) *Error {
	if len(b) > MaxBytes {
		return &Error{Name: name, Why: "larger than 1 MiB"}
	}
	if len(b) >= 3 && b[0] == 0xEF && b[1] == 0xBB && b[2] == 0xBF {
		return &Error{Name: name, Pos: Pos{1, 1}, Why: "begins with a byte order mark", Help: "save it as UTF-8 without one"}
	}
	if off := invalidUTF8(b); off >= 0 {
		return ErrorAt(name, b, off, "not valid UTF-8")
	}
	return nil
}

func invalidUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}
