package trace

import (
	"strconv"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/spec"
)

// pathMax is PATH_MAX, the NUL included.
const pathMax = 4096

// Options are what a Tracer tells others. Any of the functions may be nil. They
// are called on the tracer's thread and must not wait.
type Options struct {
	// Wake is an eventfd that becomes readable with every SIGCHLD: ptrace tells
	// of each stop by that signal. -1 for a caller that calls Serve by itself.
	Wake int
	// Reaped is told of each process whose end was collected, be it traced or
	// not: there is no second status.
	Reaped func(pid int, status unix.WaitStatus, used *unix.Rusage)
	// Started is told of each program that was charged and starts.
	Started func(pid int, program string)
	// Refused is told of each program that the budget refused.
	Refused func(tid int, program string)
	// Exceeded is told that everything is to be ended. The process that asked
	// stays stopped.
	Exceeded func()
	// Debugger is told, once, that a process called ptrace(2).
	Debugger func(tid int)
}

// pendingExec is an exec under way.
type pendingExec struct {
	program string
	// saved is set where the budget is used up, and faccessat(2) was put in the
	// exec's place: the registers to put back.
	saved *registers
}

// Tracer traces one sandbox. It is for the thread that attached it.
type Tracer struct {
	options   Options
	ledger    *audit.Ledger
	root      int  // the command's pid
	reached   bool // the command's own exec stopped at its entry
	begun     bool // the command itself has been executed
	outranked bool
	resting   bool                 // the command is stopped by a signal, or gone
	asked     bool                 // somebody inside called ptrace
	pending   map[int]*pendingExec // by the thread that called
	path      [pathMax]byte
}

// options of PTRACE_SEIZE. EXITKILL, so that a supervisor that is killed leaves
// no process behind, in a sandbox without a pid namespace too.
const seizeOptions = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_EXITKILL | unix.PTRACE_O_TRACESECCOMP |
	unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACECLONE

// AttachError says why a process cannot be traced.
type AttachError struct {
	Pid int
	Err error // an unix.Errno
}

// Error names the process and the kernel's answer.
func (e *AttachError) Error() string {
	return "cannot trace the command: " + e.Err.Error()
}

// Unwrap is the kernel's answer.
func (e *AttachError) Unwrap() error { return e.Err }

// Attach makes the calling thread, which must stay locked to its goroutine, the
// tracer of the command: a process of one thread, not yet executed, that waits
// for the caller's word. Its first exec is not charged. An error is an
// *AttachError; with EPERM somebody traces already, be it an outer sandbox, or
// Yama or another security module forbids it (ptrace(2), "Ptrace access mode
// checking").
func Attach(pid int, l *audit.Ledger, o Options) (*Tracer, error) {
	// A command that is not executed yet may share this process's memory, which
	// has been made undumpable, and so closed to an ordinary user's ptrace.
	// Nothing of the sandbox's runs yet that could use the moment.
	dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err == nil && dumpable != 1 {
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err == nil {
			defer func() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }() // it takes 0
		}
	}
	if e := seize(pid, seizeOptions); e != 0 {
		return nil, &AttachError{Pid: pid, Err: e}
	}
	return &Tracer{options: o, ledger: l, root: pid, pending: map[int]*pendingExec{}}, nil
}

// Commands is what was counted, for the record. After the end of the sandbox
// none is overcharged.
func (t *Tracer) Commands() audit.Commands {
	t.settle()
	c := t.ledger.Commands("ptrace")
	over := 0
	for _, f := range t.pending {
		if f.saved == nil {
			over++
		}
	}
	c.Overcharged = spec.Some(over)
	return c
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
