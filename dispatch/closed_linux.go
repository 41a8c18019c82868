package dispatch

import (
	"path/filepath"
	"syscall"
)

// closed says why nothing can be made beside a file; "" where something can.
func closed(path string) string {
	const writable = 2 // W_OK
	if err := syscall.Access(filepath.Dir(path), writable); err != nil {
		return err.Error()
	}
	return ""
}
