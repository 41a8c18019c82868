package enclosing

import (
	"syscall"

	"golang.org/x/sys/unix"

	"sbx/spec"
	"sbx/wrap"
)

// Budget is a program limit that an outer sbx's supervisor counts for this process's
// descendants.
type Budget struct{ id int }

// OpenBudget asks an outer sbx to count the programs that this process's next command
// starts; ok is false if there is no outer sbx or it cannot.
func OpenBudget(limit spec.Opt[int], on spec.OnExceed) (b Budget, ok bool) {
	n := uint64(wrap.BudgetNone)
	if limit.Set {
		n = uint64(limit.Value)
	}
	id, ok := ask(wrap.BudgetOpen, n, on)
	return Budget{id}, ok && id > 0
}

// Open reports whether an outer sbx counts this budget.
func (b Budget) Open() bool { return b.id > 0 }

// Commands returns the counts so far; ok is false if the outer sbx no longer answers.
func (b Budget) Commands() (attempted, started, refused int, ok bool) {
	attempted, ok1 := b.number(wrap.BudgetAttempted)
	started, ok2 := b.number(wrap.BudgetStarted)
	refused, ok3 := b.number(wrap.BudgetRefused)
	return attempted, started, refused, ok1 && ok2 && ok3
}

// Exceeded reports whether the budget was exceeded and the caller must end all processes.
func (b Budget) Exceeded() bool {
	over, ok := b.number(wrap.BudgetExceeded)
	return ok && over == 1
}

func (b Budget) number(which wrap.BudgetRequest) (int, bool) {
	return ask(which, uint64(b.id), 0)
}

// Answers reports whether there is an outer sbx that serves budgets.
func Answers() bool {
	_, ok := ask(wrap.BudgetHere, 0, 0)
	return ok
}

// ask sends a request to an outer sbx's seccomp listener as an execveat(2) that executes
// nothing, and returns the call's result. Its flags are unknown to the kernel, so that
// without a listener the call fails.
func ask(request wrap.BudgetRequest, number uint64, on spec.OnExceed) (int, bool) {
	r, _, e := syscall.RawSyscall6(unix.SYS_EXECVEAT, uintptr(on), 0, uintptr(request), uintptr(number), wrap.BudgetFlags, 0)
	return int(r), e == 0
}
