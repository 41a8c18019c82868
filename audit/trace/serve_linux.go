package trace

import (
	"sbx/internal/sys"
	"time"

	"golang.org/x/sys/unix"
)

// syscallStop is the signal of a stop at a call's exit, with PTRACE_O_TRACESYSGOOD.
const syscallStop = unix.SIGTRAP | 0x80

// stopped handles a stop and continues the process.
func (t *Tracer) stopped(tid int, status unix.WaitStatus) {
	// A child's first stop may come before its parent's event (ptrace(2)). Every process
	// that stops is a tracee, so the two need not be matched.
	signal, event := status.StopSignal(), int(status)>>16
	if event != unix.PTRACE_EVENT_EXEC && signal != syscallStop {
		t.gone(tid) // a thread stops at nothing else during an exec: the pending one is that of an ended thread with the same TID
	}
	if tid == t.root {
		t.resting = event == unix.PTRACE_EVENT_STOP && stops(signal)
	}
	switch {
	case event == unix.PTRACE_EVENT_SECCOMP:
		t.entered(tid)
	case event == unix.PTRACE_EVENT_EXEC:
		t.executed(tid)
	case event == unix.PTRACE_EVENT_STOP && stops(signal):
		// A group-stop: the process stays stopped until SIGCONT or SIGKILL.
		if listen(tid) != 0 {
			proceed(tid, 0)
		}
	case event != 0: // a new child's first stop, its parent's event, the end of a group-stop
		proceed(tid, 0)
	case signal == syscallStop:
		t.returned(tid)
	default: // a signal that is about to be delivered
		proceed(tid, signal)
	}
}

// stops reports whether a signal stops a process (signal(7)).
func stops(s unix.Signal) bool {
	switch s {
	case unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
		return true
	}
	return false
}

// ended handles the end of a thread, a process, or a child that is not traced.
func (t *Tracer) ended(tid int, status unix.WaitStatus, used *unix.Rusage) {
	t.gone(tid)
	t.resting = t.resting || tid == t.root
	if t.options.Reaped != nil {
		t.options.Reaped(tid, status, used)
	}
}

// batch is how many statuses Serve handles in one call, so that the caller gets its turn.
const batch = 256

// Event must be called when Options.Wake is readable.
func (t *Tracer) Event() {
	// The descriptor is emptied first, so that a signal that arrives during Serve makes it
	// readable again.
	sys.Hush(t.options.Wake)
	if t.Serve() {
		sys.Ring(t.options.Wake)
	}
}

// Serve handles the pending stops and ends and never blocks. more reports that some may
// be left.
func (t *Tracer) Serve() (more bool) {
	for range batch {
		var status unix.WaitStatus
		var used unix.Rusage
		// It waits for children of other threads as well: the kernel reparents orphans
		// to any thread of a subreaper.
		tid, err := unix.Wait4(-1, &status, unix.WNOHANG|unix.WALL, &used)
		switch {
		case err == unix.EINTR:
		case err != nil || tid == 0:
			return false
		case status.Stopped():
			t.stopped(tid, status)
		default:
			t.ended(tid, status, &used)
		}
	}
	return true
}

// Started waits until the command has been executed or has ended. It returns false if the
// Tracer killed the command because its exec did not stop: a filter from outside sends
// execs to a supervisor (seccomp user notifications), which takes precedence over a
// tracer, so programs cannot be counted.
func (t *Tracer) Started() bool {
	for !t.begun && !t.outranked && !t.resting {
		t.wait(-1)
	}
	return !t.outranked
}

// wait waits up to ms milliseconds for Options.Wake, -1 for no limit, and calls Event.
func (t *Tracer) wait(ms int) {
	pf := [1]unix.PollFd{{Fd: int32(t.options.Wake), Events: unix.POLLIN}}
	if n, _ := unix.Poll(pf[:], ms); n > 0 {
		t.Event()
	}
}

// Settle waits, d at most, until the command has stopped because of the signal that the
// terminal sent to the whole process group. A supervisor that stopped itself before could
// not pass the signal on until it is continued.
func (t *Tracer) Settle(d time.Duration) {
	for end := time.Now().Add(d); !t.resting; {
		left := time.Until(end)
		if left <= 0 {
			return
		}
		t.wait(int(left/time.Millisecond) + 1)
	}
}
