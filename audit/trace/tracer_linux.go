package trace

import (
	"strconv"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/spec"
)

// pathMax is PATH_MAX: the longest path, its NUL included.
const pathMax = 4096

// Options holds the callbacks of a Tracer. Any of them may be nil. They are called on the
// tracer's thread and must not block.
type Options struct {
	// Wake is an eventfd that becomes readable at each SIGCHLD, by which ptrace signals a
	// stop; -1 for a caller that calls Serve by itself.
	Wake int
	// Reaped is called for each child that the Tracer has waited for, traced or not:
	// nobody else can wait for it again.
	Reaped func(pid int, status unix.WaitStatus, used *unix.Rusage)
	// Started is called for each program that was charged and has started.
	Started func(pid int, program string)
	// Refused is called for each program that the budget denies.
	Refused func(tid int, program string)
	// Exceeded is called when the whole sandbox must be ended. The process that exceeded
	// the budget stays stopped.
	Exceeded func()
	// Debugger is called the first time that a process calls ptrace(2).
	Debugger func(tid int)
}

// pendingExec is an exec in progress.
type pendingExec struct {
	program string
	// saved holds the registers to restore if the budget is used up and the exec was
	// replaced by faccessat(2); else nil.
	saved *registers
}

// Tracer traces the processes of one sandbox. Only the thread that called Attach may use it.
type Tracer struct {
	options   Options
	ledger    *audit.Ledger
	root      int                  // the command's pid
	reached   bool                 // the command's own exec stopped at its entry
	begun     bool                 // the command itself has been executed
	outranked bool                 // execs go to a supervisor outside, see Started
	resting   bool                 // the command is stopped by a signal, or gone
	debugged  bool                 // a process called ptrace(2)
	pending   map[int]*pendingExec // by the TID of the calling thread
	path      [pathMax]byte
}

// seizeOptions are the options of PTRACE_SEIZE. Because of EXITKILL a killed supervisor
// leaves no process behind, even in a sandbox without a PID namespace.
const seizeOptions = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_EXITKILL | unix.PTRACE_O_TRACESECCOMP |
	unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACECLONE

// AttachError is returned if a process cannot be traced.
type AttachError struct{ Err error } // an unix.Errno

// Error names the kernel's error.
func (e *AttachError) Error() string {
	return "cannot trace the command: " + e.Err.Error()
}

// Unwrap returns the kernel's error.
func (e *AttachError) Unwrap() error { return e.Err }

// Attach makes the calling thread, which must stay locked to its goroutine, the tracer of
// the command pid: a process with one thread that waits for the caller before its first
// exec. That exec is not charged. The error is an *AttachError. EPERM means that another
// process traces the command already, such as an outer sandbox, or that Yama or another
// security module denies it (ptrace(2), "Ptrace access mode checking").
func Attach(pid int, l *audit.Ledger, o Options) (*Tracer, error) {
	// Before its exec the command may share this process's memory, which is undumpable,
	// so that an ordinary user may not trace it. No program of the sandbox runs yet that
	// could exploit the moment.
	dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err == nil && dumpable != 1 {
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err == nil {
			defer func() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }() // prctl rejects the old value 2
		}
	}
	if e := seize(pid, seizeOptions); e != 0 {
		return nil, &AttachError{e}
	}
	return &Tracer{options: o, ledger: l, root: pid, pending: map[int]*pendingExec{}}, nil
}

// Commands returns the counts for the record. Overcharged counts the programs that are
// charged and have not started, of which none are left after the end of the sandbox.
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

// gone ends the pending exec of a thread that no longer exists. The program did not start:
// the kernel kills a process whose exec fails after its old program was removed.
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

// settle calls gone for threads whose end was never reported: a thread that is killed in
// its exec once it has the leader's TID ends with that TID.
func (t *Tracer) settle() {
	for tid := range t.pending {
		if unix.Access("/proc/"+strconv.Itoa(tid), unix.F_OK) == unix.ENOENT {
			t.gone(tid)
		}
	}
}
