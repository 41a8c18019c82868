package listen

import (
	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/seccomp"
)

// caller is the thread that waits for an answer, and its call: what it asks and what
// its memory and /proc say. It can be read, and not answered.
//
// What answers calls is made of caller and the parts below, each with no more of the
// others than it needs: paths finds where names lead, Rules has what the spec says of
// them, answers tells the caller.
type caller struct {
	fd     int // seccomp's listener
	n      seccomp.Notification
	call   seccomp.Call
	path   [pathMax]byte // of a program or a socket, as the caller has it
	byFile bool          // others' memory is read by /proc alone
}

// answers is what the caller is told, and what others are told of its call.
type answers struct {
	to       *caller
	refused  func(*Refusal)
	refusal  Refusal
	reported bool // the call at hand is bound to fail, and that was told
}

// paths finds where the caller's paths lead.
type paths struct {
	*caller
	root     int                    // the sandbox's (O_PATH); -1: each process has its own
	matters  func(name []byte) bool // whether it matters where a name lies that goes
	own      int                    // the directory of the supervisor's descriptors; 0 as long as nobody asked
	joined   [pathMax]byte          // made absolute
	work     [2]scratch             // of what comes into being, and of what goes
	tries    int                    // directories opened for this notification, see maxTries
	searches bool                   // the last path was not there, on a plain way: that is tried first
	there    bool                   // what was to be made last was there
}

// writes lets calls go on that may make or change files.
type writes struct {
	*answers
	rules  *Rules
	told   func()          // that a name may be made, perhaps another than was looked at
	opened *audit.Openings // the paths that may be written; nil for nobody
}

// The calls that make or take names, that open files to write them, and that look for
// secrets.
type (
	namer struct {
		*paths
		writes
		remove  func(path string, dir int, folder bool) (e unix.Errno, ours bool)
		present *int // counts the names that were there already
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

// checker foretells whether an exec fails.
type checker struct {
	*paths
	programs *Programs
	known    map[fileID]bool // files that are programs by their first bytes
	head     [headSize]byte
	user     int // the supervisor's, and one; 0 as long as nobody asked
}

// starter rules on execs and charges them.
type starter struct {
	checker
	*answers
	Counts
	budgets budgets
	inner   inner
}

// budgets are those of the sbx inside this sandbox.
type budgets struct {
	*caller
	open  []nested
	asked []*nested // those that were charged for the exec at hand
}

// inner answers what an sbx inside asks.
type inner struct {
	*answers
	tells     string
	budgets   *budgets
	narrowing *narrowing
}

// copies are of the caller's descriptors.
type copies struct {
	*caller
	thread    thread
	oldPidfds bool // the kernel has pidfds of whole processes only
	discards  discards
}

// narrowing is what the sbx inside may reach, each for its own tree.
type narrowing struct {
	*copies
	*answers
	egress    *Egress
	describes bool
	list      []*narrowed
}

// pendingConnects are the connects that are under way.
type pendingConnects struct {
	helpers
	*answers
	clock     *clock
	interrupt unix.Signal
	describes bool
}

// binder rules on binds, connector on connects.
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
		network   uint64 // the supervisor's network namespace, 0 as long as nobody asked
	}
)

// contact tells the ledger of connects that may lead to a model.
type contact struct {
	*caller
	ledger *audit.Ledger
	aside  []string
}

// memfds makes files in memory in the caller's stead.
type memfds struct {
	*caller
	*answers
}

// Counts is who counts what is started.
type Counts struct {
	Ledger *audit.Ledger // what is charged; nil where nothing is counted
	// Timeline is told of what is charged and let go; nil for nobody.
	Timeline *audit.Timeline
	// Exceeded is told that everything is to be ended.
	Exceeded func()
}

// Sockets is what may be connected to from a sandbox with a network of its own.
type Sockets struct {
	// Named are the pathname sockets of the host that may be.
	Named []string
	// Egress is where connects to the internet are led to; nil where they lead nowhere.
	Egress *Egress
	// Interrupt is a signal whose handler does nothing: it ends a system call.
	Interrupt unix.Signal
	// Describes: what the sandbox's network refuses is told of.
	Describes bool
}
