package wrap

// BudgetFlags are the flags by which an sbx inside another's sandbox asks that one
// to count for it: an execveat that no kernel makes (EINVAL), and that the outer
// listener answers. Its third argument is a BudgetRequest, its fourth a number, its
// first, to open one, a spec.OnExceed. Nothing of it lies in memory: the outer
// supervisor cannot read that of one which has made a user namespace under itself.
const BudgetFlags = 0x7362_0078

// BudgetRequest is what is asked of an outer sbx, about a budget but for the last three.
type BudgetRequest uint8

// The requests. BudgetHere is answered with 0, BudgetOpen with the budget's number,
// the others, about that number, with what was counted; BudgetExceeded with 1 where
// everything is to be ended.
const (
	BudgetHere BudgetRequest = iota
	BudgetOpen
	BudgetAttempted
	BudgetStarted
	BudgetRefused
	BudgetExceeded
	// BudgetSpec is answered with a descriptor of Plan.Tells, to be read from its start.
	BudgetSpec
	// BudgetNarrow is about no number but a descriptor: of one end of a pair of sockets
	// (SOCK_SEQPACKET) in which a Narrow waits. Each Beyond comes back by it. BudgetWide
	// says that all that was started has ended. Both are answered with 0.
	BudgetNarrow
	BudgetWide
)

// BudgetNone is the number that opens a budget without a limit.
const BudgetNone = 1<<64 - 1
