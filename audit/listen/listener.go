package listen

import (
	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/seccomp"
	"sbx/wrap"
)

// Listener answers the notifications of one sandbox. Its methods are not to be called
// at the same time, but for Take, which may wait beside what is not about the
// notification that it took last.
type Listener struct {
	FD     int           // seccomp's listener
	Root   int           // the sandbox's root (O_PATH); -1: each process has its own
	Ledger *audit.Ledger // what is charged; nil where nothing is counted
	// Timeline is told of what is charged and let go, and Opened of the paths in Views that
	// a call which is let go may write; nil for nobody.
	Timeline *audit.Timeline
	Opened   *audit.Openings
	Views    []wrap.View // where the writable trees are
	// Sockets: the sandbox has a network of its own, and which pathname sockets
	// are connected to is decided here. Named are those of the host that may be.
	Sockets bool
	Named   []string
	// Egress is where connects to the internet are led to; nil where they lead nowhere.
	Egress *Egress
	// Interrupt is a signal whose handler does nothing: it ends a system call.
	Interrupt unix.Signal
	// Describes: what the sandbox's network refuses is told of.
	Describes bool
	// Aside are programs, by their files' names, whose connecting is not the
	// agent's.
	Aside []string
	// Programs is which files may be executed; nil for any.
	Programs *Programs
	// Forbids tells whether a name of the host must not come into being.
	Forbids func(path string) bool
	// Empty tells whether it may be all the same where it is a new folder's; nil for
	// never.
	Empty func(path string) bool
	// Links tells whether no symbolic link must come to stand at a path; nil for
	// anywhere.
	Links func(path string) bool
	// Part tells whether a name may be one that must not come into being, where its
	// folder cannot be told.
	Part func(name string) bool
	// Closed tells whether a path may not be written although its mount may; nil for
	// none.
	Closed func(path string) bool
	// Guards is how one is guarded, and the innermost mount that it lies beneath, whether
	// the mounts are there at that moment or not. Guarded tells whether a name may be
	// that of one on which a mount lies; nil for no name.
	Guards  func(path string) (g audit.Guard, mount string)
	Guarded func(name string) bool
	// Remove removes a path of the host that is mounted on inside, where the kernel
	// would refuse that, or says that it is not its own to remove; nil for nothing.
	// dir is the folder that the path is in.
	Remove func(path string, dir int, folder bool) (e unix.Errno, ours bool)
	// Secrets are paths inside that are hidden: who looks for one is told of; nil where
	// the filter does not notify of that.
	Secrets []string
	// Makes is told that a call goes on which may make a name, and perhaps another one
	// than was looked at; nil for nobody.
	Makes func()
	// Exceeded is told that everything is to be ended.
	Exceeded func()
	// Refused is told of each call that was refused, or is about to be. What it
	// points to is valid until it returns.
	Refused func(*Refusal)
	// Tells is what an sbx inside is told that asks (wrap.BudgetSpec); "" for nothing.
	Tells string
	// Answered is what notifications came so far.
	Answered Answered

	own      int // the folder of the supervisor's descriptors; 0 as long as nobody asked
	user     int // the supervisor's, and one; 0 as long as nobody asked
	made     made
	clock    clock
	flights  helpers
	discards discards
	thread   thread
	// network is the supervisor's network namespace, 0 as long as nobody asked;
	// oldPidfds, that the kernel has pidfds of whole processes only.
	network   uint64
	oldPidfds bool
	byFile    bool // others' memory is read by /proc alone

	n        seccomp.Notification
	call     seccomp.Call
	path     [pathMax]byte // of a program, as the caller has it
	joined   [pathMax]byte // made absolute
	work     [2]scratch    // of what comes into being, and of what goes
	head     [headSize]byte
	tries    int  // folders opened for this notification, see maxTries
	searches bool // the last path was not there, on a plain way: that is tried first
	there    bool // what was to be made last was there
	refusal  Refusal
	reported bool // the call at hand is bound to fail, and that was told
	nested   []nested
	narrowed []*narrowed
	asked    []*nested       // those that were charged for the exec at hand
	programs map[fileID]bool // files that are programs by their first bytes
}

// Answered is how many notifications came, by what they cost: execs, calls that make
// or take names, those of them that would make one that is there already, opens, and
// all others.
type Answered struct{ Execs, Names, Present, Opens, Others int }

// Refusal is one call that does not succeed.
type Refusal struct {
	TID    int
	Cause  Cause
	Action string // "create", "open for writing", "execute", a system call's name
	Target string // a path as it is inside, or what else it was about; may be empty
}

// Cause is why a call does not succeed.
type Cause uint8

// The causes.
const (
	ByBudget   Cause = iota
	ByName           // a protected name would come into being, or change its place
	ReadOnly         // the mount may only be read
	BySocket         // a pathname socket was not made inside, or cannot be looked at
	ByNetwork        // the sandbox's network does not lead there
	BySideDoor       // the call is one of those that are shut
	ByInner          // the budget of an sbx inside this sandbox
	ByNarrow         // the network of one
	ByAllow          // commands.allow does not name the program
	ByDeny           // commands.deny names it
	ByLoader         // it is the loader, started as a program
	Hidden           // a secret is looked for, and not there
	OutOfView        // there is no such program or folder inside; whether there is one outside is not known
)

// pathMax is PATH_MAX: the longest path that a call takes, its NUL included.
const pathMax = 4096

// Take takes the next notification at fd, the listener's descriptor or a copy of it, as
// seccomp.Next does.
func (l *Listener) Take(fd int) (taken, over bool) { return seccomp.Next(fd, &l.n) }

// Answer answers the notification that was taken.
func (l *Listener) Answer() {
	l.call, l.tries, l.reported = l.n.Call(), 0, false
	if is, at := seccomp.Exec(seccomp.Native, l.call); is {
		l.Answered.Execs++
		l.exec(l.call, at)
		return
	}
	name, _ := seccomp.Native.Name(l.call.Nr)
	if c, ok := nameCalls[name]; ok {
		l.Answered.Names++
		l.names(&c)
		return
	}
	at, looks := lookCalls[name]
	if looks && l.Secrets != nil {
		l.seeks(at)
	}
	if c, ok := openCalls[name]; ok {
		l.Answered.Opens++
		l.opens(&c)
		return
	}
	l.Answered.Others++
	if looks {
		l.proceed()
		return
	}
	switch name {
	case Connect:
		l.connect()
	case "bind":
		l.bind()
	case "memfd_create":
		l.memory()
	default: // what the filter refuses: never to go on
		l.report(BySideDoor, name, "")
		l.n.Fail(l.FD, unix.EPERM)
	}
}

// proceed lets the kernel decide.
func (l *Listener) proceed() { seccomp.Continue(l.FD, l.n.ID) }

// makes is proceed for a call that may make a name.
func (l *Listener) makes() {
	if l.Makes != nil {
		l.Makes()
	}
	l.proceed()
}

// report tells of a call that does not succeed. A thread that is gone may have
// left its number to a process of the host's, whose memory is nobody's to tell.
func (l *Listener) report(cause Cause, action, target string) {
	l.reported = true
	l.reportOf(l.n.ID, l.n.TID, cause, action, target)
}

// reportOf is report for a call that was taken before.
func (l *Listener) reportOf(id uint64, tid uint32, cause Cause, action, target string) {
	if l.Refused == nil || !seccomp.Valid(l.FD, id) {
		return
	}
	l.refusal = Refusal{TID: int(tid), Cause: cause, Action: action, Target: target}
	l.Refused(&l.refusal)
}
