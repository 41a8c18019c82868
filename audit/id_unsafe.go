package audit

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"sbx/internal/doc"
)

// idLayout sorts by time as text does.
const idLayout = "20060102T150405.000"

// NewID is the name of a run: its time, to the millisecond in UTC, and eight
// random digits. Later runs sort after earlier ones.
func NewID(now time.Time) (string, error) {
	random, err := RandomHex()
	if err != nil {
		return "", err
	}
	return string(now.UTC().AppendFormat(nil, idLayout)) + "-" + random, nil
}

// isID reports whether a name in the runs directory is a run's.
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
		// The call itself: unix.Getrandom sets up the vDSO's generator first,
		// a mapping and three pages, for the sake of many calls.
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
