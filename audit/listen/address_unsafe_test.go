package listen

import (
	"golang.org/x/sys/unix"
)

// openAddress opens the path at an address in this process's memory.
func openAddress(addr uint64) (int, unix.Errno) {
	dir := unix.AT_FDCWD
	r, _, e := unix.Syscall6(unix.SYS_OPENAT, uintptr(dir), uintptr(addr), unix.O_PATH|unix.O_CLOEXEC, 0, 0, 0)
	if e == 0 {
		unix.Close(int(r))
	}
	return int(r), e
}
