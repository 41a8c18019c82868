package launch

import (
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"sbx/spec"
	"sbx/wrap"
)

// Budget is a budget that an outer sbx's supervisor keeps for this one's tree.
type Budget struct{ id int }

// OpenBudget asks an outer sbx to count what the next command of this process
// starts; ok is false where there is none, or it cannot.
func OpenBudget(limit spec.Opt[int], on spec.OnExceed) (b Budget, ok bool) {
	n := ""
	if limit.Set {
		n = strconv.Itoa(limit.Value)
	}
	id, ok := askOuter("open/" + n + "/" + on.String())
	return Budget{id}, ok && id > 0
}

// Open tells whether somebody keeps it.
func (b Budget) Open() bool { return b.id > 0 }

// Commands is what was counted so far, and whether the budget was exceeded and
// everything is to be ended for it.
func (b Budget) Commands() (attempted, started, refused int, exceeded bool) {
	number := strconv.Itoa(b.id)
	attempted, _ = askOuter("attempted/" + number)
	started, _ = askOuter("started/" + number)
	refused, _ = askOuter("refused/" + number)
	over, _ := askOuter("exceeded/" + number)
	return attempted, started, refused, over == 1
}

// outerAnswers tells whether there is an outer sbx that counts for those inside.
func outerAnswers() bool {
	_, ok := askOuter("here")
	return ok
}

// askOuter makes a request of an outer listener: it is the result of an execve
// that executes nothing. A kernel that is asked has no such file.
func askOuter(request string) (int, bool) {
	path := append([]byte(wrap.BudgetPath+request), 0)
	r, _, e := syscall.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(&path[0])), 0, 0)
	return int(r), e == 0
}
