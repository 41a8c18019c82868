package seccomp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Pointer is the address of the program's header for a raw system call. Who
// keeps it as a uintptr keeps the header alive besides.
func Pointer(p *unix.SockFprog) unsafe.Pointer { return unsafe.Pointer(p) }
