package listen

import (
	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/seccomp"
	"sbx/wrap"
)

// Counts configures the counting of programs.
type Counts struct {
	Ledger *audit.Ledger // charges programs; nil if they are not counted
	// Timeline records the programs that were charged and continued; may be nil.
	Timeline *audit.Timeline
	// Exceeded is called when the whole sandbox must be ended.
	Exceeded func()
}

// starter decides execs and charges them.
type starter struct {
	checker
	*answers
	Counts
	budgets budgets
	inner   inner
}

// atExecveCheck is AT_EXECVE_CHECK (Linux 6.14; older kernels answer EINVAL): execveat
// checks whether a file could be executed and executes nothing.
const atExecveCheck = 0x10000

// decide answers execve(path, …) or, if at is set, execveat(dirfd, path, …, flags). first says that the
// call is not to be charged.
func (s *starter) decide(at, first bool) {
	if s.Ledger == nil && s.programs == nil {
		s.proceed()
		return
	}
	c := s.call
	x := attempt{dirfd: unix.AT_FDCWD, addr: c.Args[0]}
	if at {
		x = attempt{dirfd: int32(c.Args[0]), addr: c.Args[1], flags: uint32(c.Args[4])}
	}
	if seccomp.Absent(c) {
		s.fails(&x, unix.ENOSYS)
		return
	}
	if x.flags == wrap.BudgetFlags && s.Ledger != nil {
		s.inner.serve(c.Args[0], c.Args[2], c.Args[3])
		return
	}
	if x.flags&atExecveCheck != 0 {
		s.proceed()
		return
	}
	e := s.look(&x)
	if e != 0 {
		s.fails(&x, e)
		return
	}
	if s.Ledger == nil || first {
		s.proceed()
		return
	}
	if s.budgets.charge(x.name) != audit.Proceed {
		s.Ledger.Forbid()
		s.deny(ByInner, Execute, x.name)
		return
	}
	switch s.Ledger.Charge(x.name) {
	case audit.Refuse:
		s.budgets.giveBack(x.name)
		s.deny(ByBudget, Execute, x.name)
	case audit.EndAll: // no answer: the caller waits until it is killed
		s.report(ByBudget, Execute, x.name)
		s.Exceeded()
	default:
		s.start(x.name)
	}
}

// start continues an exec that was charged.
func (s *starter) start(name string) {
	if s.Timeline != nil {
		s.Timeline.Expect(int(s.n.TID))
	}
	gone := s.proceed()
	if gone { // killed before the answer: it did not run
		s.Ledger.Return(name)
		s.budgets.giveBack(name)
	}
	switch {
	case s.Timeline == nil:
	case gone:
		s.Timeline.Forget()
	default:
		s.Timeline.Started(name)
	}
}

// fails answers an exec that is certain to fail with errno e, and counts it as denied or
// as failed.
func (s *starter) fails(x *attempt, e unix.Errno) {
	switch {
	case x.forbidden:
		s.report(x.cause, Execute, x.target)
		if s.Ledger != nil {
			s.Ledger.Forbid()
		}
	case s.Ledger != nil:
		s.Ledger.Fail()
	}
	if x.absent != "" {
		s.report(OutOfView, Execute, x.absent)
	}
	s.budgets.failed()
	s.fail(e)
}
