package launch

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// entryWord returns word i of what the entry point noted: 0 that it ran, 1 the
// ignored signals, 2 the signal mask, 3 and 4 RLIMIT_NOFILE's soft and hard
// limit, 5 the errno of reading that, 6 the address of argc and argv, 7 the
// timer slack.
func entryWord(i int) uint64

// Slack puts the timer slack of this thread back to what the caller had; main's
// first call, for children and programs that are executed inherit it.
//
// The entry point raised it to 4 ms, and the threads that the runtime started
// meanwhile keep that. One of them, sysmon, looks every 20 us whether a
// goroutine waits in a system call and another could have its turn: at first,
// and here there is no other. A start of a few milliseconds had fifty of its
// wake-ups, a fifth of all processor time with a sandbox on every processor.
// With the slack it wakes with the next tick, and no timer is set for it. (Two
// more threads have it, which sleep 3 us before they take a goroutine from
// another's queue: that may last 4 ms there, no longer.)
func Slack() {
	if entryWord(0) == 1 && int64(entryWord(7)) >= 0 {
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(entryWord(7)), 0, 0, 0) // it takes any number
	}
}

// Room makes the stack of the calling goroutine 32 KiB at once, which is what a
// start needs. It would get there in four steps, each of which copies the stack
// and takes from the heap eight pages or so in which smaller ones are kept.
func Room()

// Caller is what a command inherits and the Go runtime would have changed.
type Caller struct {
	Noted   bool   // the entry point ran; false in a program built without it
	Ignored uint64 // signals that the caller ignores, bit n-1 is signal n
	Mask    uint64 // the caller's signal mask
	Files   unix.Rlimit
}

// Inherited returns what the entry point noted before the Go runtime started.
// In a program that was linked without -E sbx_entry, Noted is false and the
// values are what the runtime left: no ignored signal, the mask of this thread,
// the raised limit.
func Inherited() Caller {
	c := Caller{Noted: entryWord(0) == 1, Ignored: entryWord(1), Mask: entryWord(2)}
	if !c.Noted {
		c.Mask = currentMask()
	}
	if c.Noted && entryWord(5) == 0 {
		c.Files = unix.Rlimit{Cur: entryWord(3), Max: entryWord(4)}
		return c
	}
	var lim syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim) == nil {
		c.Files = unix.Rlimit{Cur: lim.Cur, Max: lim.Max}
	}
	return c
}
