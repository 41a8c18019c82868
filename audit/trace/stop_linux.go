package trace

import (
	"strconv"

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

// gone settles what a thread that is no more wanted to start. It did not start:
// the kernel kills a process whose exec fails after its old program is gone.
func (t *Tracer) gone(tid int) {
	f := t.pending[tid]
	switch {
	case f == nil:
		return
	case f.saved == nil:
		t.ledger.Return(f.program)
	default:
		t.ledger.Fail()
	}
	delete(t.pending, tid)
}

// settle looks for threads whose end nobody reports: one that was killed in its
// exec, when it had the leader's number already, ends under that number.
func (t *Tracer) settle() {
	for tid := range t.pending {
		if unix.Access("/proc/"+strconv.Itoa(tid), unix.F_OK) == unix.ENOENT {
			t.gone(tid)
		}
	}
}
