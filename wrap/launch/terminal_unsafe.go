package launch

import (
	"runtime"
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

// takeBack makes this process's group the terminal's foreground again.
func takeBack(fd int) { handOver(fd, unix.Getpgrp()) }

// handOver makes a process group the terminal's foreground.
func handOver(fd, group int) {
	id := int32(group)
	Unstopped(func() {
		_, _, _ = syscall.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSPGRP, uintptr(unsafe.Pointer(&id)))
	})
}

// Unstopped does what a group in the background may do to its terminal only with
// SIGTTOU blocked (tty_ioctl(4)): to write, too, where the terminal is set to stop
// who does (tostop). The kernel would begin the write again after each signal.
func Unstopped(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	set, old := [2]uint64{1 << (unix.SIGTTOU - 1)}, [2]uint64{}
	sigmask(unix.SIG_BLOCK, &set, &old)
	defer sigmask(unix.SIG_SETMASK, &old, nil)
	f()
}

// GoOn has a terminal go on with its output that a program has held (TCOOFF of
// tcflow(3)), which no key does. What a person has held stays so.
func GoOn(fd int) {
	Unstopped(func() { _ = unix.IoctlSetInt(fd, unix.TCXONC, tcoOn) })
}

// tcoOn is TCOON of asm-generic/termbits.h.
const tcoOn = 1
