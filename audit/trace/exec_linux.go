package trace

import (
	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/seccomp"
)

// atExecveCheck is AT_EXECVE_CHECK (Linux 6.14): execveat only says whether it
// would be allowed to.
const atExecveCheck = 0x10000

// entered answers a call that stopped at its entry.
func (t *Tracer) entered(tid int) {
	c, ok := callOf(tid)
	if !ok { // killed; or a kernel that cannot say, which is then no
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
	case is && seccomp.Absent(c): // the kernel's answer
		t.ledger.Fail()
		proceed(tid, 0)
	case is:
		t.starting(tid, c, at)
	case !seccomp.Ptrace(seccomp.Native, c): // a filter of somebody inside, who has no tracer
		refuse(tid, unix.ENOSYS)
	default:
		refuse(tid, unix.EPERM)
		if !t.asked && t.options.Debugger != nil {
			t.options.Debugger(tid)
		}
		t.asked = true
	}
}

// starting asks the ledger about an exec.
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

// exceeded tells of a program that the budget has no room for, and whether its
// process may go on without it. Where all is to be ended it stays where it is.
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

// left is a call's exit: of an exec that failed, or of what was asked in the
// place of one.
func (t *Tracer) left(tid int) {
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

// answered gives a process whose program the budget has no room for the
// kernel's own answer where the program could not be executed anyway, EPERM
// where it could.
func (t *Tracer) answered(tid int, f *pendingExec) {
	delete(t.pending, tid)
	result, e := resultOf(tid)
	if e != 0 { // killed
		t.ledger.Fail()
		return
	}
	// Beyond are the kernel's own words for "make the call again", which a call
	// that is not made must not answer.
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

// executed is an exec that succeeded. Of the other threads nothing is left: the
// one that called goes on under the leader's number, and neither it nor the
// leader reports an end (ptrace(2), "execve(2) under ptrace").
func (t *Tracer) executed(tid int) {
	former, e := eventMessage(tid)
	if e != 0 { // killed just now, before its first instruction
		return
	}
	f := t.pending[former]
	delete(t.pending, former)
	t.gone(tid) // what the leader wanted to start
	switch {
	case tid == t.root && !t.begun && !t.reached:
		// A filter outside sends execs to a supervisor, which goes before a
		// tracer. Nothing of the command has run, and nothing will.
		t.outranked = true
		_ = unix.Kill(tid, unix.SIGKILL)
		return
	case tid == t.root && !t.begun:
		t.begun = true
	case f != nil:
		t.started(tid, f.program)
	default:
		// It did not stop at its entry: somebody inside has a filter that
		// hands execs to a supervisor of its own, which goes before a tracer.
		// It cannot be refused any more; but nothing of the program has run.
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
