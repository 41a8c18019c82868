package outer

import (
	"syscall"

	"golang.org/x/sys/unix"

	"sbx/spec"
	"sbx/wrap"
)

// Budget is a budget that an outer sbx's supervisor keeps for this one's tree.
type Budget struct{ id int }

// OpenBudget asks an outer sbx to count what the next command of this process
// starts; ok is false where there is none, or it cannot.
func OpenBudget(limit spec.Opt[int], on spec.OnExceed) (b Budget, ok bool) {
	n := uint64(wrap.BudgetNone)
	if limit.Set {
		n = uint64(limit.Value)
	}
	id, ok := ask(wrap.BudgetOpen, n, on)
	return Budget{id}, ok && id > 0
}

// Open tells whether somebody keeps it.
func (b Budget) Open() bool { return b.id > 0 }

// Commands is what was counted so far; ok is false where nobody tells it any more.
func (b Budget) Commands() (attempted, started, refused int, ok bool) {
	attempted, ok1 := b.number(wrap.BudgetAttempted)
	started, ok2 := b.number(wrap.BudgetStarted)
	refused, ok3 := b.number(wrap.BudgetRefused)
	return attempted, started, refused, ok1 && ok2 && ok3
}

// Exceeded tells whether the budget was exceeded and everything is to be ended
// for it.
func (b Budget) Exceeded() bool {
	over, ok := b.number(wrap.BudgetExceeded)
	return ok && over == 1
}

func (b Budget) number(which wrap.BudgetRequest) (int, bool) {
	return ask(which, uint64(b.id), 0)
}

// Answers tells whether there is an outer sbx that counts for those inside.
func Answers() bool {
	_, ok := ask(wrap.BudgetHere, 0, 0)
	return ok
}

// ask makes a request of an outer listener: it is the result of an execveat
// that executes nothing. A kernel that is asked has no such flags.
func ask(request wrap.BudgetRequest, number uint64, on spec.OnExceed) (int, bool) {
	r, _, e := syscall.RawSyscall6(unix.SYS_EXECVEAT, uintptr(on), 0, uintptr(request), uintptr(number), wrap.BudgetFlags, 0)
	return int(r), e == 0
}
