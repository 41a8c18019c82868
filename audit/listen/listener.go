package listen

import (
	"sbx/audit"
	"sbx/seccomp"
)

// Listener answers the notifications of one sandbox. It is for the one thread
// that polls its descriptor.
type Listener struct {
	FD     int           // seccomp's listener
	Root   int           // the sandbox's root (O_PATH); -1: each process has its own
	Ledger *audit.Ledger // what is charged
	// Refused is told of each program that the budget refused, and Exceeded
	// that everything is to be ended.
	Refused  func(tid int, program string)
	Exceeded func(tid int, program string)

	n        seccomp.Notification
	path     [pathMax]byte // as the caller has it
	joined   [pathMax]byte // made absolute
	head     [headSize]byte
	programs map[fileID]bool // files that are programs by their first bytes
}

// pathMax is PATH_MAX: the longest path that a call takes, its NUL included.
const pathMax = 4096

// Serve answers one notification, if there is one.
func (l *Listener) Serve() {
	if seccomp.Receive(l.FD, &l.n) != 0 {
		return // its thread was killed
	}
	call := l.n.Call()
	if is, at := seccomp.Exec(seccomp.Native, call); is {
		l.exec(call, at)
		return
	}
	seccomp.Continue(l.FD, l.n.ID)
}
