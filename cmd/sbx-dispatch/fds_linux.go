package main

import "golang.org/x/sys/unix"

// closeOnExec keeps what the caller has open beyond the three streams from the
// processes that are started: a keeper would hold a caller's pipe open for as
// long as its dispatch runs.
func closeOnExec() {
	_ = unix.CloseRange(3, 1<<32-1, unix.CLOSE_RANGE_CLOEXEC) // before Linux 5.11 they stay open
}
