package launch

// A Go runtime that lacks memory or threads at its start prints stacks. So the entry point
// tests for both first: it maps as much memory, and if the user's process limit might be
// reached it creates as many processes, each a child of the previous one, which all end at
// once.
var (
	noMemory = "sbx: cannot start\n" +
		"sbx: why: the limit of address space or of data is too small for the Go runtime\n" +
		"sbx: hint: raise it: ulimit -v needs some 800 MB, ulimit -d 80 MB\n"
	noProcesses = "sbx: cannot start\n" +
		"sbx: why: the user's limit of processes leaves too few for the threads of sbx\n" +
		"sbx: hint: raise it (ulimit -u), or end some of the user's processes\n"
)

// processors is the variable that the entry point adds to the runtime's copy of the
// environment, with a NUL at its end, unless the caller's affinity mask or its own
// GOMAXPROCS allows only one processor. The runtime creates a structure with a memory cache
// for each processor: with 128 processors that causes two thirds of a start's page faults.
// sbx uses two at most, since the threads that answer calls need none.
var processors = &[...]byte{'G', 'O', 'M', 'A', 'X', 'P', 'R', 'O', 'C', 'S', '=', '2', 0}
