package dispatch

import (
	"path/filepath"
	"syscall"
)

// unwritable returns why no file can be created next to path; "" if one can.
func unwritable(path string) string {
	const writable = 2 // W_OK
	if err := syscall.Access(filepath.Dir(path), writable); err != nil {
		return err.Error()
	}
	return ""
}
