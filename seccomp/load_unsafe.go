package seccomp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Pointer returns the address of the program's header for a raw system call. A caller that keeps it
// as a uintptr must also keep the header alive.
func Pointer(p *unix.SockFprog) unsafe.Pointer { return unsafe.Pointer(p) }
