package launch

// A Go runtime that cannot have what it takes at its start prints stacks. So the entry
// point tries before: it maps as much, and where the user's processes could be used up
// it makes as many, each a child of the one before, which all end at once.
var (
	noMemory = "sbx: cannot start\n" +
		"sbx: why: the limit of address space or of data is too small for the Go runtime\n" +
		"sbx: hint: raise it: ulimit -v needs some 800 MB, ulimit -d 80 MB\n"
	noProcesses = "sbx: cannot start\n" +
		"sbx: why: the user's limit of processes leaves too few for the threads of sbx\n" +
		"sbx: hint: raise it (ulimit -u), or end some of the user's processes\n"
)

// processors is the variable that the entry point adds to the runtime's copy of the
// environment, a NUL at its end, unless the caller's affinity mask or its own GOMAXPROCS
// allows one alone. The runtime makes a structure with a cache of memory for each
// processor: at 128 that is two thirds of a start's page faults, and sbx has work for
// two at most, since the threads that answer are none of the scheduler's.
var processors = &[...]byte{'G', 'O', 'M', 'A', 'X', 'P', 'R', 'O', 'C', 'S', '=', '2', 0}
