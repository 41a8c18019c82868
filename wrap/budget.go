package wrap

// BudgetFlags are the flags by which an sbx inside a sandbox asks the sbx outside to count for it.
// They are flags of execveat(2) that every kernel refuses (EINVAL) and that the outer listener
// answers. The third argument is a BudgetRequest, the fourth a number, and the first, to open a
// budget, a spec.OnExceed. No argument is a pointer, because the outer supervisor cannot read the
// memory of a process that has made a user namespace below its own.
const BudgetFlags = 0x7362_0078

// BudgetRequest is a request to an outer sbx. All but the last three are about a budget.
type BudgetRequest uint8

// These are the requests. The answer to BudgetHere is 0 and to BudgetOpen the budget's number. The
// other requests about a budget take that number and are answered with the count; BudgetExceeded is
// answered with 1 if everything must be ended.
const (
	BudgetHere BudgetRequest = iota
	BudgetOpen
	BudgetAttempted
	BudgetStarted
	BudgetRefused
	BudgetExceeded
	// BudgetSpec is answered with a descriptor of Plan.ForNested, to be read from its start.
	BudgetSpec
	// BudgetNarrow takes no number but a descriptor: one end of a pair of sockets (SOCK_SEQPACKET),
	// in which a Narrow waits. The outer sbx sends each Beyond back through it. BudgetWide reports
	// that all processes of the request have ended. Both are answered with 0.
	BudgetNarrow
	BudgetWide
)

// BudgetNone is the number that opens a budget without a limit.
const BudgetNone = 1<<64 - 1
