package trace

import (
	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/seccomp"
)

// atExecveCheck is AT_EXECVE_CHECK (Linux 6.14): execveat checks whether a file could be
// executed and executes nothing.
const atExecveCheck = 0x10000

// entered handles a call that stopped at its entry.
func (t *Tracer) entered(tid int) {
	c, ok := callOf(tid)
	if !ok { // the process was killed, or the kernel does not report the call
		refuse(tid, unix.EPERM)
		return
	}
	is, at := seccomp.Exec(seccomp.Native, c)
	switch {
	case is && tid == t.root && !t.begun: // the command itself
		t.reached = true
		proceed(tid, 0)
	case at && c.Args[4]&atExecveCheck != 0: // starts nothing
		proceed(tid, 0)
	case is && seccomp.Absent(c): // the kernel answers ENOSYS
		t.ledger.Fail()
		proceed(tid, 0)
	case is:
		t.starting(tid, c, at)
	case !seccomp.Ptrace(seccomp.Native, c): // stopped by a filter of the sandbox's own; as without a tracer
		refuse(tid, unix.ENOSYS)
	default:
		refuse(tid, unix.EPERM)
		if !t.debugged && t.options.Debugger != nil {
			t.options.Debugger(tid)
		}
		t.debugged = true
	}
}

// starting charges an exec to the ledger. If the budget is used up, it first has the
// process check whether the program could be executed at all.
func (t *Tracer) starting(tid int, c seccomp.Call, at bool) {
	program, empty := t.program(tid, c, at)
	if t.ledger.Spent() {
		t.settle()
	}
	if t.ledger.Spent() {
		if !empty && c.Arch == seccomp.Native.Audit() {
			if saved, e := access(tid, c, at); e == 0 {
				t.pending[tid] = &pendingExec{program, saved}
				toExit(tid)
				return
			}
		}
		if t.exceeded(tid, program) {
			refuse(tid, unix.EPERM)
		}
		return
	}
	t.ledger.Charge(program)
	t.pending[tid] = &pendingExec{program: program}
	toExit(tid)
}

// exceeded reports a program that exceeds the budget, and returns whether its process
// may continue without it. If the whole sandbox is to be ended, the process stays stopped.
func (t *Tracer) exceeded(tid int, program string) bool {
	ruling := t.ledger.Exceed()
	if t.options.Refused != nil {
		t.options.Refused(tid, program)
	}
	if ruling == audit.EndAll && t.options.Exceeded != nil {
		t.options.Exceeded()
	}
	return ruling != audit.EndAll
}

// returned handles the exit of a call: of an exec that failed, or of the faccessat(2) in its
// place.
func (t *Tracer) returned(tid int) {
	f := t.pending[tid]
	switch {
	case f == nil:
	case f.saved == nil:
		t.ledger.Return(f.program)
	default:
		t.answered(tid, f)
		return
	}
	delete(t.pending, tid)
	proceed(tid, 0)
}

// answered ends an exec that exceeds the budget: with the kernel's errno if the program
// could not be executed anyway, otherwise with EPERM.
func (t *Tracer) answered(tid int, f *pendingExec) {
	delete(t.pending, tid)
	result, e := resultOf(tid)
	if e != 0 { // killed
		t.ledger.Fail()
		return
	}
	// Above it are internal errors by which the kernel restarts a call (ERESTARTSYS and
	// others). A call that is not made must not return one.
	const maxErrno = 511
	if result < 0 && result >= -maxErrno {
		t.ledger.Fail()
		putBack(tid, f.saved, result)
		proceed(tid, 0)
		return
	}
	putBack(tid, f.saved, -int64(unix.EPERM))
	if t.exceeded(tid, f.program) {
		proceed(tid, 0)
	}
}

// executed handles an exec that succeeded. The kernel has ended all other threads of the
// process, and the calling thread continues with the TID of the leader. Neither that
// thread nor the leader reports an end (ptrace(2), "execve(2) under ptrace").
func (t *Tracer) executed(tid int) {
	former, e := eventMessage(tid)
	if e != 0 { // killed before its first instruction
		return
	}
	f := t.pending[former]
	delete(t.pending, former)
	t.gone(tid) // the leader's own pending exec
	switch {
	case tid == t.root && !t.begun && !t.reached:
		// A filter outside this sandbox sends execs to a supervisor, which takes
		// precedence over a tracer. No instruction of the command has run, nor will any.
		t.outranked = true
		_ = unix.Kill(tid, unix.SIGKILL)
		return
	case tid == t.root && !t.begun:
		t.begun = true
	case f != nil:
		t.started(tid, f.program)
	default:
		// It did not stop at its entry: a filter inside sends execs to a supervisor
		// of its own, which takes precedence over a tracer. The exec cannot be denied
		// any more, but no instruction of the program has run yet.
		program := link(tid, "exe")
		if t.ledger.Spent() {
			t.exceeded(tid, program)
			_ = unix.Kill(tid, unix.SIGKILL)
			return
		}
		t.ledger.Charge(program)
		t.started(tid, program)
	}
	proceed(tid, 0)
}

func (t *Tracer) started(pid int, program string) {
	if t.options.Started != nil {
		t.options.Started(pid, program)
	}
}
