package listen

import (
	"math"
	"slices"

	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/spec"
	"sbx/wrap"
)

// A nested sbx cannot have a seccomp listener of its own: a chain of filters has only
// one. Instead it asks this listener to keep a budget for its process tree, by an
// execveat with flags that no kernel knows (wrap.BudgetFlags); the return value is the
// answer. A program that makes such a request can only restrict itself.

// maxNested is how many budgets are kept in addition to the sandbox's own.
const maxNested = 16

// nested is the budget of one nested sbx.
type nested struct {
	innerProcess
	ledger  audit.Ledger
	begun   bool // its command has been executed, which is not charged
	command int  // pidfd of that command; -1 for none
	reached bool // the budget was exceeded and the whole tree must end
}

// gone reports whether the nested sbx has ended, and closes its descriptors then.
func (b *nested) gone() bool {
	if !b.innerProcess.gone() {
		return false
	}
	if b.command >= 0 {
		unix.Close(b.command)
		b.command = -1
	}
	return true
}

// inner answers the requests of a nested sbx.
type inner struct {
	*answers
	forNested string
	budgets   *budgets
	narrowing *narrowing
}

// serve answers an execveat with wrap.BudgetFlags.
func (i *inner) serve(on, request, number uint64) {
	switch narrows := i.narrowing != nil; {
	case request == uint64(wrap.BudgetSpec):
		i.sendSpec()
		return
	case narrows && request == uint64(wrap.BudgetNarrow):
		i.narrowing.narrow(int32(number))
		return
	case narrows && request == uint64(wrap.BudgetWide):
		i.narrowing.widen()
		return
	}
	n, e := i.budgets.serve(on, request, number)
	if e != 0 {
		i.fail(e)
		return
	}
	i.answer(n)
}

// sendSpec answers wrap.BudgetSpec with a descriptor of a sealed file that holds
// Config.ForNested.
func (i *inner) sendSpec() {
	fd, e := -1, unix.ENOENT
	if i.forNested != "" {
		fd, e = sealed("sbx-spec", i.forNested)
	}
	if e == 0 {
		e = i.give(fd, true)
		unix.Close(fd)
	}
	if e != 0 {
		i.fail(e)
	}
}

// sealed returns a memfd that holds text and is sealed against changes.
func sealed(name, text string) (int, unix.Errno) {
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate(name, flags|unix.MFD_NOEXEC_SEAL)
	if err == unix.EINVAL { // before Linux 6.3
		fd, err = unix.MemfdCreate(name, flags)
	}
	if err != nil {
		return -1, unix.ENOMEM
	}
	_, err = unix.Write(fd, []byte(text))
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_GROW|unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL)
	}
	if err != nil {
		unix.Close(fd)
		return -1, unix.ENOMEM
	}
	return fd, 0
}

// budgets holds the budgets of nested sbx.
type budgets struct {
	*caller
	open    []nested
	charged []*nested // charged for the current exec
}

// serve returns the answer to a request about budgets.
func (s *budgets) serve(on, request, number uint64) (int64, unix.Errno) {
	pid := s.process()
	if pid <= 0 || request > uint64(wrap.BudgetExceeded) || !s.waits() {
		return 0, unix.ENOENT
	}
	switch wrap.BudgetRequest(request) {
	case wrap.BudgetHere:
		return 0, 0
	case wrap.BudgetOpen:
		return s.begin(pid, on, number)
	}
	if number < 1 || number > uint64(len(s.open)) || s.open[number-1].pid != pid {
		return 0, unix.ENOENT
	}
	b := &s.open[number-1]
	c := b.ledger.Commands("")
	switch wrap.BudgetRequest(request) {
	case wrap.BudgetAttempted:
		return int64(c.Attempted), 0
	case wrap.BudgetStarted:
		return int64(c.Started), 0
	case wrap.BudgetRefused:
		return int64(c.Refused), 0
	}
	if b.reached {
		return 1, 0
	}
	return 0, 0
}

// begin opens a budget for process pid and returns its number, from 1.
func (s *budgets) begin(pid int, on, limit uint64) (int64, unix.Errno) {
	if on < uint64(spec.Deny) || on > uint64(spec.RecordOnly) {
		return 0, unix.EINVAL
	}
	b := nested{command: -1}
	b.ledger.OnExceed = spec.OnExceed(on)
	switch {
	case limit == wrap.BudgetNone:
	case limit > math.MaxInt64:
		return 0, unix.EINVAL
	default:
		b.ledger.Max = spec.Some(int(limit))
	}
	var e unix.Errno
	if b.innerProcess, e = openInside(pid); e != 0 {
		return 0, e
	}
	for i := range s.open {
		if s.open[i].gone() {
			s.open[i] = b
			return int64(i + 1), 0
		}
	}
	if len(s.open) == maxNested {
		b.forget()
		return 0, unix.EAGAIN
	}
	s.open = append(s.open, b)
	return int64(len(s.open)), 0
}

// charge charges a program to every nested budget that applies to the caller. If one
// denies it, the charges to the others are returned.
func (s *budgets) charge(name string) audit.Ruling {
	s.charged = s.charged[:0]
	for _, b := range s.above() {
		if !b.begun {
			b.begun = true
			b.command, _ = unix.PidfdOpen(int(s.n.TID), 0)
			continue
		}
		ruling := b.ledger.Charge(name)
		if ruling == audit.Proceed {
			s.charged = append(s.charged, b)
			continue
		}
		s.giveBack(name)
		if ruling == audit.EndAll && !b.reached {
			b.reached = true // the listener kills the command; its sbx ends the rest
			_ = unix.PidfdSendSignal(b.command, unix.SIGKILL, nil, 0)
		}
		return audit.Refuse
	}
	return audit.Proceed
}

// giveBack returns the charges of the current exec.
func (s *budgets) giveBack(name string) {
	for _, b := range s.charged {
		b.ledger.Return(name)
	}
	s.charged = s.charged[:0]
}

// failed counts an exec that failed in every nested budget that applies to the caller.
func (s *budgets) failed() {
	for _, b := range s.above() {
		if b.begun {
			b.ledger.Fail()
		}
	}
}

// above returns the budgets of those nested sbx that are ancestors of the waiting
// thread's process. If its ancestors are unknown it returns all: the call may be charged
// too often, never too little.
func (s *budgets) above() (list []*nested) {
	live := make([]*nested, 0, len(s.open))
	for i := range s.open {
		if b := &s.open[i]; !b.gone() {
			live = append(live, b)
		}
	}
	if len(live) == 0 {
		return nil
	}
	pids, ok := s.ancestors()
	return slices.DeleteFunc(live, func(b *nested) bool { return ok && !slices.Contains(pids, b.pid) })
}
