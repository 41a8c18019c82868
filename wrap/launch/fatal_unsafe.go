package launch

// When the Go runtime fails (it gets no thread or no memory, or a panic), it prints the reason
// and stacks and exits with status 2, which also stands for a bad command line. With
// GOTRACEBACK=crash it raises SIGABRT instead, and passes that to the handler that was
// installed before the runtime started. The entry point sets both, the variable in a copy of
// the environment that only the runtime reads, so this holds from the runtime's first step on.
// Until the command has started, the handler exits with 125; afterwards it lets SIGABRT end
// the program, and everything in the sandbox with it.
//
// If the runtime fails because of a signal such as SIGSEGV, it first sends SIGQUIT to its own
// process for each thread, to have the thread print its stack, and waits up to ten seconds.
// sbx forwards SIGQUIT, so no thread would answer and the command would keep running.
// Therefore noteSignal treats that SIGQUIT as the end.
var (
	// traceback is the variable, with a NUL at its end.
	traceback = &[...]byte{'G', 'O', 'T', 'R', 'A', 'C', 'E', 'B', 'A', 'C', 'K', '=', 'c', 'r', 'a', 's', 'h', 0}
	// abandoned is the handler's message.
	abandoned = "sbx: the program failed, as said above: no command was started\n" +
		"sbx: hint: where no thread can be made raise the limit of processes (ulimit -u, TasksMax=, a container's pids limit)\n"
	// started is 1 once the command may run.
	started uint64
	// byDefaultAction restores a signal's default action.
	byDefaultAction sigaction
)

func abandonHandler() uintptr
