package launch

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
	id, ok := askOuter(wrap.BudgetOpen, n, on)
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
	return askOuter(which, uint64(b.id), 0)
}

// Narrowing is a Narrow that an outer sbx's supervisor holds for this one's tree. Its
// descriptor is readable when Next has something to say; -1 for none.
type Narrowing struct{ FD int }

// OpenNarrowing asks an outer sbx to hold what the commands of this process may reach;
// ok is false where there is none, or it cannot.
func OpenNarrowing(n *wrap.Narrow) (narrowing Narrowing, ok bool) {
	none := Narrowing{-1}
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return none, false
	}
	defer unix.Close(ends[1])
	text := n.Text()
	if len(text) <= wrap.MaxNarrow && unix.Send(ends[0], []byte(text), unix.MSG_NOSIGNAL) == nil {
		if _, ok := askOuter(wrap.BudgetNarrow, uint64(ends[1]), 0); ok {
			return Narrowing{ends[0]}, true
		}
	}
	unix.Close(ends[0])
	return none, false
}

// Next is the next connect that was refused; ok is false where there is none yet.
func (n Narrowing) Next() (r wrap.Beyond, ok bool) {
	b := make([]byte, 8<<10)
	for n.FD >= 0 {
		size, err := unix.Read(n.FD, b)
		if err == unix.EINTR {
			continue
		}
		if err != nil || size <= 0 {
			break
		}
		if r, ok = wrap.ParseBeyond(string(b[:size])); ok {
			return r, true
		}
	}
	return wrap.Beyond{}, false
}

// Close says that nothing of what was held is left.
func (n Narrowing) Close() {
	if n.FD >= 0 {
		_, _ = askOuter(wrap.BudgetWide, 0, 0)
		unix.Close(n.FD)
	}
}

// outerAnswers tells whether there is an outer sbx that counts for those inside.
func outerAnswers() bool {
	_, ok := askOuter(wrap.BudgetHere, 0, 0)
	return ok
}

// askOuter makes a request of an outer listener: it is the result of an execveat
// that executes nothing. A kernel that is asked has no such flags.
func askOuter(request wrap.BudgetRequest, number uint64, on spec.OnExceed) (int, bool) {
	r, _, e := syscall.RawSyscall6(unix.SYS_EXECVEAT, uintptr(on), 0, uintptr(request), uintptr(number), wrap.BudgetFlags, 0)
	return int(r), e == 0
}
