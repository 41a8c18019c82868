package launch

// A Go runtime that fails (no thread or no memory is to be had, a panic) says why,
// prints stacks and ends the program with status 2, which is that of a bad command line.
// With GOTRACEBACK=crash it raises SIGABRT instead, and hands that to the handler that
// was there before it: the entry point has set both, the variable in a copy of the
// environment that the runtime alone reads, so that this holds from its first step on.
// The handler ends the program with 125 as long as the command has not started; then it
// lets SIGABRT end it, and everything in the sandbox with it.
//
// Where a signal such as SIGSEGV is what it fails of, the runtime first has each of its
// threads print its stack, by SIGQUIT to its own process from one to the next, and waits
// for them for ten seconds. SIGQUIT is forwarded here, so that none would answer, and the
// command would run on meanwhile: noteSignal takes that SIGQUIT for the end.
var (
	// traceback is the variable, a NUL at its end.
	traceback = &[...]byte{'G', 'O', 'T', 'R', 'A', 'C', 'E', 'B', 'A', 'C', 'K', '=', 'c', 'r', 'a', 's', 'h', 0}
	// abandoned is what the handler says.
	abandoned = "sbx: the program failed, as said above: no command was started\n" +
		"sbx: hint: where no thread can be made raise the limit of processes (ulimit -u, TasksMax=, a container's pids limit)\n"
	// started: the command may run.
	started uint64
	// byDefaultAction is what lets a signal end the program.
	byDefaultAction sigaction
)

func abandonHandler() uintptr
