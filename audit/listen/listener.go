package listen

import (
	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/seccomp"
)

// Config is what a Listener is made from.
type Config struct {
	FD       int // seccomp's listener
	Root     int // the sandbox's root (O_PATH); -1: each process has its own
	Rules    Rules
	Counts   Counts
	Programs *Programs // which files may be executed; nil for any
	Sockets  *Sockets  // nil where connects are not decided here
	// Aside are programs, by their files' names, whose connecting is not the agent's.
	Aside []string
	// Secrets are paths inside that are hidden: who looks for one is told of; nil where
	// the filter does not notify of that.
	Secrets []string
	// Remove removes a path of the host that is mounted on inside, where the kernel
	// would refuse that, or says that it is not its own to remove; nil for nothing.
	// dir is the directory that the path is in.
	Remove func(path string, dir int, folder bool) (e unix.Errno, ours bool)
	// Makes is told that a call goes on which may make a name, and perhaps another one
	// than was looked at; nil for nobody.
	Makes func()
	// Opened is told of the paths in Rules.Views that a call which is let go may write;
	// nil for nobody.
	Opened *audit.Openings
	// Refused is told of each call that was refused, or is about to be. What it
	// points to is valid until it returns.
	Refused func(*Refusal)
	// Tells is what an sbx inside is told that asks (wrap.BudgetSpec); "" for nothing.
	Tells string
}

// Listener answers the notifications of one sandbox. Its methods are not to be called
// at the same time, but for Take, which may wait beside what is not about the
// notification that it took last.
type Listener struct {
	// Answered is what notifications came so far.
	Answered Answered

	caller  caller
	answers answers
	paths   paths
	rules   Rules
	names   namer
	opens   opener
	looks   looker
	starts  starter
	memory  memfds
	contact contact
	*sockets
}

// sockets is what answers connects and binds, and what is under way of them.
type sockets struct {
	copies    copies
	narrowing narrowing
	bound     boundSockets
	clock     clock
	pending   pendingConnects
	connects  connector
	binds     binder
}

// New makes a listener. Its parts lie in it, since their buffers cost memory only once
// they are written to.
func New(c *Config) *Listener {
	l := &Listener{}
	l.caller.fd = c.FD
	l.answers.to, l.answers.refused = &l.caller, c.Refused
	l.rules = c.Rules
	l.paths.caller, l.paths.root, l.paths.matters = &l.caller, c.Root, l.rules.matters
	w := writes{&l.answers, &l.rules, c.Makes, c.Opened}
	l.names.paths, l.names.writes, l.names.remove, l.names.present = &l.paths, w, c.Remove, &l.Answered.Present
	l.opens.paths, l.opens.writes = &l.paths, w
	l.looks = looker{&l.paths, &l.answers, c.Secrets}
	l.memory = memfds{&l.caller, &l.answers}
	l.contact = contact{&l.caller, c.Counts.Ledger, c.Aside}
	l.starts.paths, l.starts.programs = &l.paths, c.Programs
	l.starts.answers, l.starts.Counts, l.starts.budgets.caller = &l.answers, c.Counts, &l.caller
	l.starts.inner = inner{answers: &l.answers, tells: c.Tells, budgets: &l.starts.budgets}
	if c.Sockets != nil {
		l.connect(c.Sockets)
	}
	return l
}

// connect gives the listener what it answers connects and binds by.
func (l *Listener) connect(c *Sockets) {
	s := &sockets{}
	l.sockets = s
	s.copies.caller = &l.caller
	s.narrowing = narrowing{copies: &s.copies, answers: &l.answers, egress: c.Egress, describes: c.Describes}
	s.pending.answers, s.pending.clock = &l.answers, &s.clock
	s.pending.interrupt, s.pending.describes = c.Interrupt, c.Describes
	s.connects = connector{paths: &l.paths, answers: &l.answers, Sockets: *c, copies: &s.copies,
		narrowing: &s.narrowing, bound: &s.bound, pending: &s.pending}
	s.binds = binder{&l.paths, &l.answers, &l.rules, &s.copies, &s.narrowing, &s.bound, &s.clock}
	l.starts.inner.narrowing = &s.narrowing
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
	OutOfView        // there is no such program or directory inside; whether there is one outside is not known
)

// pathMax is PATH_MAX: the longest path that a call takes, its NUL included.
const pathMax = 4096

// Take takes the next notification at fd, the listener's descriptor or a copy of it, as
// seccomp.Next does.
func (l *Listener) Take(fd int) (taken, over bool) { return seccomp.Next(fd, &l.caller.n) }

// Answer answers the notification that was taken.
func (l *Listener) Answer() {
	call := l.caller.n.Call()
	l.caller.call, l.paths.tries, l.answers.reported = call, 0, false
	if is, at := seccomp.Exec(seccomp.Native, call); is {
		l.Answered.Execs++
		l.starts.rule(at)
		return
	}
	name, _ := seccomp.Native.Name(call.Nr)
	if c, ok := nameCalls[name]; ok {
		l.Answered.Names++
		l.names.rule(&c)
		return
	}
	at, looks := lookCalls[name]
	if looks && l.looks.secrets != nil {
		l.looks.tell(at)
	}
	if c, ok := openCalls[name]; ok {
		l.Answered.Opens++
		l.opens.rule(&c)
		return
	}
	l.Answered.Others++
	switch {
	case looks:
		l.answers.proceed()
	case name == Connect:
		l.contact.connects()
		if l.sockets == nil {
			l.answers.proceed()
			return
		}
		l.sockets.connects.rule()
	case name == "bind":
		if l.sockets == nil {
			l.answers.proceed()
			return
		}
		l.sockets.binds.rule()
	case name == "memfd_create":
		l.memory.create()
	default: // what the filter refuses: never to go on
		l.answers.deny(BySideDoor, name, "")
	}
}
