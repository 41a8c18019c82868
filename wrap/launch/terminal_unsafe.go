package launch

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Terminal returns the one of the first three descriptors that is a terminal with this
// process's group in the foreground; -1 for none.
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

// Unstopped calls f with SIGTTOU blocked, as a background group needs in order to change its
// terminal (tty_ioctl(4)), and to write to one that stops background writers (tostop): the
// kernel would otherwise restart the write after each signal.
func Unstopped(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	set, old := [2]uint64{1 << (unix.SIGTTOU - 1)}, [2]uint64{}
	sigmask(unix.SIG_BLOCK, &set, &old)
	defer sigmask(unix.SIG_SETMASK, &old, nil)
	f()
}

// ResumeOutput resumes a terminal's output that a program has suspended (TCOOFF of tcflow(3)), which
// no key does. Output that a person has suspended stays so.
func ResumeOutput(fd int) {
	Unstopped(func() { _ = unix.IoctlSetInt(fd, unix.TCXONC, tcoOn) })
}

// tcoOn is TCOON of asm-generic/termbits.h.
const tcoOn = 1
