package trace

import (
	"time"

	"golang.org/x/sys/unix"
)

// syscallStop marks the stop at a call's exit, with PTRACE_O_TRACESYSGOOD.
const syscallStop = unix.SIGTRAP | 0x80

// stopped lets a process go on as the cause of its stop wants it.
func (t *Tracer) stopped(tid int, status unix.WaitStatus) {
	// A child's first stop may come before its parent's event (ptrace(2)); who
	// stops is a tracee, so there is nothing to match up.
	signal, event := status.StopSignal(), int(status)>>16
	if event != unix.PTRACE_EVENT_EXEC && signal != syscallStop {
		t.gone(tid) // no other stop comes before the exec's end: it is of an earlier thread of that number
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
		// Group-stop: stay stopped, until SIGCONT or SIGKILL.
		if listen(tid) != 0 {
			proceed(tid, 0)
		}
	case event != 0: // a new child's first stop, its parent's event, the end of a group-stop
		proceed(tid, 0)
	case signal == syscallStop:
		t.left(tid)
	default: // a signal on its way
		proceed(tid, signal)
	}
}

// stops tells whether a signal is one that stops a process (signal(7)).
func stops(s unix.Signal) bool {
	switch s {
	case unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
		return true
	}
	return false
}

// ended notes the end of a thread, a process, or a child that is not traced.
func (t *Tracer) ended(tid int, status unix.WaitStatus, used *unix.Rusage) {
	t.gone(tid)
	t.resting = t.resting || tid == t.root
	if t.options.Reaped != nil {
		t.options.Reaped(tid, status, used)
	}
}

// batch is how many statuses Serve takes before it lets the caller look after
// other things.
const batch = 256

// Event is what to do when Options.Wake is readable.
func (t *Tracer) Event() {
	// The descriptor is emptied first: what comes in while Serve looks makes it
	// readable again.
	var b [8]byte
	_, _ = unix.Read(t.options.Wake, b[:])
	if t.Serve() {
		b = [8]byte{1}
		_, _ = unix.Write(t.options.Wake, b[:])
	}
}

// Serve handles the stops and ends that there are and never waits. It reports
// whether it stopped before it had seen all.
func (t *Tracer) Serve() (more bool) {
	for range batch {
		var status unix.WaitStatus
		var used unix.Rusage
		// Children of other threads are taken too: the kernel hands orphans to
		// whichever thread of a subreaper it likes.
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

// Started waits until the command has been executed, or has ended. It is false
// where the command was killed at its start, since its exec did not stop: inside
// a filter that hands execs to a supervisor (seccomp's user notifications) that
// one goes before a tracer, and there can be no budget.
func (t *Tracer) Started() bool {
	for !t.begun && !t.outranked && !t.resting {
		t.wait(-1)
	}
	return !t.outranked
}

// wait serves what comes within so many milliseconds, -1 for any time.
func (t *Tracer) wait(ms int) {
	pf := [1]unix.PollFd{{Fd: int32(t.options.Wake), Events: unix.POLLIN}}
	if n, _ := unix.Poll(pf[:], ms); n > 0 {
		t.Event()
	}
}

// Settle gives the command a moment, d at most, to stop by the signal that the
// terminal has sent to all: a supervisor that stops itself before could not
// hand it on until it is continued.
func (t *Tracer) Settle(d time.Duration) {
	for end := time.Now().Add(d); !t.resting; {
		left := time.Until(end)
		if left <= 0 {
			return
		}
		t.wait(int(left/time.Millisecond) + 1)
	}
}
