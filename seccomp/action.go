package seccomp

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Kind is what the kernel does with a call. The kinds are in the kernel's order, the strictest
// first: if several filters, or several rules of one, match the same call, the smallest Kind wins
// (seccomp(2)). The zero Kind is none of them, so that a forgotten verdict is an error and not an
// allowed call.
type Kind uint8

// These are the kinds.
const (
	KillProcess Kind = iota + 1 // SIGSYS ends the whole process (Linux 4.14)
	KillThread                  // SIGSYS ends the calling thread only
	Trap                        // SIGSYS, which the program may handle
	Errno                       // the call fails with Action.Errno
	KindNotify                  // a supervisor answers (Linux 5.0)
	Trace                       // the tracer is notified and decides; without one, ENOSYS (ptrace(2), PTRACE_EVENT_SECCOMP)
	Log                         // the call runs and is logged (Linux 4.14)
	Allow                       // the call runs
)

// returns holds each kind's return value in a BPF program.
var returns = [...]uint32{
	KillProcess: unix.SECCOMP_RET_KILL_PROCESS,
	KillThread:  unix.SECCOMP_RET_KILL_THREAD,
	Trap:        unix.SECCOMP_RET_TRAP,
	Errno:       unix.SECCOMP_RET_ERRNO,
	KindNotify:  unix.SECCOMP_RET_USER_NOTIF,
	Trace:       unix.SECCOMP_RET_TRACE,
	Log:         unix.SECCOMP_RET_LOG,
	Allow:       unix.SECCOMP_RET_ALLOW,
}

func (k Kind) valid() bool { return k >= KillProcess && k <= Allow }

// Action is a verdict: its Kind and, only for Errno, the errno (1 to 4095).
type Action struct {
	Kind  Kind
	Errno uint16
}

// maxErrno is the largest errno that a filter can return; the kernel clamps larger ones to it
// (MAX_ERRNO in include/linux/err.h).
const maxErrno = 4095

// Fail returns the action that makes a call fail with e.
func Fail(e unix.Errno) Action { return Action{Kind: Errno, Errno: uint16(e)} }

// stricter tells whether a goes before b. Two errnos are alike: the one that
// came first stays.
func (a Action) stricter(b Action) bool { return a.Kind < b.Kind }

// ret returns the action as a BPF program returns it.
func (a Action) ret() uint32 {
	r := returns[a.Kind]
	if a.Kind == Errno {
		r |= uint32(a.Errno)
	}
	return r
}

// check returns nil for an action that can be compiled.
func (a Action) check() error {
	switch {
	case !a.Kind.valid():
		return errors.New("the action has no kind")
	case a.Kind == Errno && (a.Errno == 0 || a.Errno > maxErrno):
		return errors.New("an errno action needs an errno from 1 to 4095")
	case a.Kind != Errno && a.Errno != 0:
		return errors.New("only an errno action has an errno")
	}
	return nil
}
