package launch

import "golang.org/x/sys/unix"

// entryWord returns word i that the entry point recorded: 0 that it ran, 1 the ignored
// signals, 2 the signal mask, 3 and 4 the soft and hard limit of RLIMIT_NOFILE, 5 the errno
// of reading them, 6 the address of argc and argv, 7 the timer slack.
func entryWord(i int) uint64

// Slack restores the timer slack that the caller had for this thread. main calls it first,
// since children and executed programs inherit it.
//
// The entry point raised the slack to 4 ms, and the threads that the runtime has started
// since then keep that. One of them, sysmon, checks every 20 us whether a goroutine waits in
// a system call while another could run; during a start there is no other. A start of a few
// milliseconds had fifty of its wake-ups, a fifth of all processor time when every
// processor started sandboxes. With the slack it wakes at the next tick, and no timer is
// set. (Two more threads have the slack. They sleep 3 us before they take a goroutine from
// another queue, which may now last up to 4 ms.)
func Slack() {
	if entryWord(0) == 1 && int64(entryWord(7)) >= 0 {
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(entryWord(7)), 0, 0, 0) // it takes any number
	}
}

// Room makes the stack of the calling goroutine 32 KiB at once, the size that a start
// needs. Otherwise the stack would grow in four steps. Each copies the stack and takes
// about eight pages from the heap.
func Room()

// Caller is what a command inherits from sbx's caller and the Go runtime would have changed.
type Caller struct {
	Noted   bool   // the entry point ran; false in a program built without it
	Ignored uint64 // signals that the caller ignores, bit n-1 is signal n
	Mask    uint64 // the caller's signal mask
	Files   unix.Rlimit
}

// Inherited returns what the entry point recorded before the Go runtime started. In a
// program that was linked without -E sbx_entry, Noted is false and the values are those that
// the runtime left: no ignored signal, this thread's mask, the raised limit.
func Inherited() Caller {
	c := Caller{Noted: entryWord(0) == 1, Ignored: entryWord(1), Mask: entryWord(2)}
	if !c.Noted {
		c.Mask = currentMask()
	}
	if c.Noted && entryWord(5) == 0 {
		c.Files = unix.Rlimit{Cur: entryWord(3), Max: entryWord(4)}
		return c
	}
	_ = unix.Getrlimit(unix.RLIMIT_NOFILE, &c.Files)
	return c
}
