package main

import "golang.org/x/sys/unix"

// closeOnExec makes started processes not inherit the caller's descriptors, except the three
// standard streams. A keeper would otherwise hold a caller's pipe open as long as its
// dispatch runs.
func closeOnExec() {
	_ = unix.CloseRange(3, 1<<32-1, unix.CLOSE_RANGE_CLOEXEC) // has no effect before Linux 5.11
}
