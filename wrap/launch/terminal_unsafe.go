package launch

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Terminal is the one of the first three descriptors that is a terminal whose
// foreground is this process's group; -1 where there is none.
func Terminal() int {
	own := unix.Getpgrp()
	for fd := 0; fd <= 2; fd++ {
		if fg, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err == nil && fg == own {
			return fd
		}
	}
	return -1
}

// takeBack makes this process's group the terminal's foreground again. A group
// in the background may do that only with SIGTTOU blocked (tty_ioctl(4)).
func takeBack(fd int) {
	own := int32(unix.Getpgrp())
	set, old := [2]uint64{1 << (unix.SIGTTOU - 1)}, [2]uint64{}
	sigmask(unix.SIG_BLOCK, &set, &old)
	_, _, _ = syscall.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSPGRP, uintptr(unsafe.Pointer(&own)))
	sigmask(unix.SIG_SETMASK, &old, nil)
}
