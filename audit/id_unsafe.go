package audit

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"sbx/internal/doc"
)

// idLayout makes texts that sort by time.
const idLayout = "20060102T150405.000"

// NewID returns the id of a new run: its time in UTC, to the millisecond, and eight random digits.
// Later runs sort after earlier ones.
func NewID(now time.Time) (string, error) {
	random, err := RandomHex()
	if err != nil {
		return "", err
	}
	return string(now.UTC().AppendFormat(nil, idLayout)) + "-" + random, nil
}

// isID reports whether a name in the runs directory is the id of a run.
func isID(name string) bool {
	if len(name) != len(idLayout)+9 || name[8] != 'T' || name[15] != '.' || name[len(idLayout)] != '-' {
		return false
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		digit := c >= '0' && c <= '9'
		switch {
		case i == 8, i == 15, i == len(idLayout):
		case !digit && (i < len(idLayout) || c < 'a' || c > 'f'):
			return false
		}
	}
	return true
}

// RandomHex returns eight random hexadecimal digits.
func RandomHex() (string, error) {
	var b [4]byte
	for {
		// unix.Getrandom is not used, because it first sets up the generator of the vDSO, which
		// takes a mapping and three pages and pays only for many calls.
		n, _, e := syscall.Syscall(unix.SYS_GETRANDOM, uintptr(unsafe.Pointer(&b)), unsafe.Sizeof(b), 0)
		if e == syscall.EINTR {
			continue
		}
		if e != 0 {
			return "", e
		}
		if int(n) == len(b) {
			break
		}
	}
	return doc.Hex(b[:]), nil
}
