package listen

import (
	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/seccomp"
)

// caller gives access to the thread that waits for an answer: its call, its memory and
// its /proc. It cannot answer the call.
//
// The types that answer calls embed caller and the parts below, each only those that it
// needs: paths resolves paths, Rules holds what the spec says about them, answers ends
// the call.
type caller struct {
	fd     int // seccomp's listener
	n      seccomp.Notification
	call   seccomp.Call
	path   [pathMax]byte // of a program or a socket, as the caller passed it
	byFile bool          // read memory through /proc/TID/mem only
}

// answers ends the caller's call, and reports denials to Config.Refused.
type answers struct {
	to       *caller
	refused  func(*Refusal)
	refusal  Refusal
	reported bool // the current call was reported as denied
}

// paths resolves the caller's paths.
type paths struct {
	*caller
	root     int                    // the sandbox's (O_PATH); -1: each process has its own
	matters  func(name []byte) bool // whether a removal of this name needs its whole path
	own      int                    // O_PATH of the supervisor's /proc/self/fd; 0 until first used
	joined   [pathMax]byte          // buffer for a relative path made absolute
	work     [2]scratch             // for the created path and for the removed one
	tries    int                    // directories opened for this notification, see maxTries
	searches bool                   // the last path was plainly missing: try plainly first
	there    bool                   // the last path to be created existed already
}

// writes continues calls that may create or change files.
type writes struct {
	*answers
	rules  *Rules
	told   func()          // Config.Makes
	opened *audit.Openings // Config.Opened
}

// namer decides calls that create, rename or remove names, opener those that open files
// for writing; looker reports those that look for secrets.
type (
	namer struct {
		*paths
		writes
		remove  func(path string, dir int, folder bool) (e unix.Errno, ours bool)
		present *int // counts the names that existed already
	}
	opener struct {
		*paths
		writes
	}
	looker struct {
		*paths
		*answers
		secrets []string
	}
)

// checker finds out whether an exec is certain to fail.
type checker struct {
	*paths
	programs *Programs
	known    map[fileID]bool // ELF files
	head     [headSize]byte
	user     int // the supervisor's effective uid plus one; 0 until first used
}

// starter decides execs and charges them.
type starter struct {
	checker
	*answers
	Counts
	budgets budgets
	inner   inner
}

// budgets holds the budgets of nested sbx.
type budgets struct {
	*caller
	open  []nested
	asked []*nested // charged for the current exec
}

// inner answers the requests of a nested sbx.
type inner struct {
	*answers
	tells     string
	budgets   *budgets
	narrowing *narrowing
}

// copies duplicates the caller's descriptors.
type copies struct {
	*caller
	thread    thread
	oldPidfds bool // the kernel has pidfds of whole processes only
	discards  discards
}

// narrowing holds the network rules of nested sbx, each for its own process tree.
type narrowing struct {
	*copies
	*answers
	egress    *Egress
	describes bool
	list      []*narrowed
}

// pendingConnects holds the connects that helpers are making.
type pendingConnects struct {
	helpers
	*answers
	clock     *clock
	interrupt unix.Signal
	describes bool
}

// binder decides binds, connector connects.
type (
	binder struct {
		*paths
		*answers
		rules     *Rules
		copies    *copies
		narrowing *narrowing
		bound     *boundSockets
		clock     *clock
	}
	connector struct {
		*paths
		*answers
		Sockets
		copies    *copies
		narrowing *narrowing
		bound     *boundSockets
		pending   *pendingConnects
		network   uint64 // cookie of the supervisor's network namespace; 0 until first used
	}
)

// contact reports connects that may lead to a model to the ledger.
type contact struct {
	*caller
	ledger *audit.Ledger
	aside  []string
}

// memfds makes memfds on behalf of the caller.
type memfds struct {
	*caller
	*answers
}

// Counts configures the counting of programs.
type Counts struct {
	Ledger *audit.Ledger // charges programs; nil if they are not counted
	// Timeline records the programs that were charged and continued; may be nil.
	Timeline *audit.Timeline
	// Exceeded is called when the whole sandbox must be ended.
	Exceeded func()
}

// Sockets configures connects from a sandbox with its own network namespace.
type Sockets struct {
	// Named are the paths of the host's pathname sockets that may be connected to.
	Named []string
	// Egress connects to the internet; nil for a sandbox without that.
	Egress *Egress
	// Interrupt is a signal whose handler does nothing: it interrupts a system call.
	Interrupt unix.Signal
	// Describes has connects reported that the sandbox's network denies.
	Describes bool
}
