package listen

import (
	"golang.org/x/sys/unix"

	"sbx/audit"
	"sbx/seccomp"
)

// Config holds the settings of a Listener.
type Config struct {
	FD       int // seccomp's listener
	Root     int // the sandbox's root (O_PATH); -1: each process has its own
	Rules    Rules
	Counts   Counts
	Programs *Programs // which files may be executed; nil for any
	Sockets  *Sockets  // nil if the listener lets all connects and binds continue
	// Aside are the file names of programs whose connects do not count as the agent's.
	Aside []string
	// Secrets are hidden paths inside: the listener reports programs that look for one.
	// nil if the filter does not notify of such calls.
	Secrets []string
	// Remove removes a path of the host on which the sandbox has a mount, where the kernel
	// would deny that. ours is false if the path is not Remove's to decide. dir is the
	// directory that contains the path. nil: the kernel decides all removals.
	Remove func(path string, dir int, wantsDir bool) (e unix.Errno, ours bool)
	// Makes is called before a call continues that may create a name, perhaps another one
	// than the listener checked; may be nil.
	Makes func()
	// Opened collects the paths in Rules.Views that calls may write which the listener
	// lets continue; may be nil.
	Opened *audit.Openings
	// Refused is called for each call that is denied or is about to be. The Refusal is
	// valid until Refused returns.
	Refused func(*Refusal)
	// ForNested is the answer to a nested sbx that sends wrap.BudgetSpec; "" for none.
	ForNested string
}

// Listener answers the seccomp notifications of one sandbox. Its methods must not be
// called concurrently, except Take: it may wait while other methods run that do not
// concern the notification it took last.
type Listener struct {
	// Answered counts the notifications so far.
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

// New makes a listener. It embeds all parts by value: their buffers use memory only once
// they are written to.
func New(c *Config) *Listener {
	l := &Listener{}
	l.caller.fd = c.FD
	l.answers.to, l.answers.refused = &l.caller, c.Refused
	l.rules = c.Rules
	l.paths.caller, l.paths.root, l.paths.matters = &l.caller, c.Root, l.rules.matters
	w := writes{&l.answers, &l.rules, c.Makes, c.Opened}
	l.names = namer{&l.paths, w, remover{&l.paths, &l.answers, &l.rules, c.Remove}, &l.Answered.Present}
	l.opens = opener{&l.paths, w}
	l.looks = looker{&l.paths, &l.answers, c.Secrets}
	l.memory = memfds{&l.caller, &l.answers}
	l.contact = contact{&l.caller, c.Counts.Ledger, c.Aside}
	l.starts.paths, l.starts.programs = &l.paths, c.Programs
	l.starts.answers, l.starts.Counts, l.starts.budgets.caller = &l.answers, c.Counts, &l.caller
	l.starts.inner = inner{answers: &l.answers, forNested: c.ForNested, budgets: &l.starts.budgets}
	if c.Sockets != nil {
		l.addSockets(c.Sockets)
	}
	return l
}

// Answered counts notifications by how expensive their answer is: execs, calls that
// create, rename or remove names (Present: those of them that would create a name that
// exists already), opens, and all others.
type Answered struct{ Execs, Names, Present, Opens, Others int }

// Take receives the next notification from fd, the seccomp listener or a duplicate of it;
// see seccomp.Next.
func (l *Listener) Take(fd int) (taken, over bool) { return seccomp.Next(fd, &l.caller.n) }

// AnswerFirst answers the notification that Take received last as the exec by which a program of
// sbx's becomes the sandbox's command: decided as any other, but not charged. is is false if it was no
// exec, which fails: that program makes no other call which the filter notifies of.
func (l *Listener) AnswerFirst() (is bool) {
	is, at := seccomp.Exec(seccomp.Native, l.begin())
	if is {
		l.starts.decide(at, true)
	} else {
		l.answers.fail(unix.ENOSYS)
	}
	return is
}

// begin prepares to answer the notification that Take received last, and returns its call.
func (l *Listener) begin() seccomp.Call {
	l.caller.call, l.paths.tries, l.answers.reported = l.caller.n.Call(), 0, false
	return l.caller.call
}

// Answer answers the notification that Take received last.
func (l *Listener) Answer() {
	call := l.begin()
	if is, at := seccomp.Exec(seccomp.Native, call); is {
		l.Answered.Execs++
		l.starts.decide(at, false)
		return
	}
	name, _ := seccomp.Native.Name(call.Nr)
	if c, ok := nameCalls[name]; ok {
		l.Answered.Names++
		l.names.decide(&c)
		return
	}
	at, looks := lookCalls[name]
	if looks && l.looks.secrets != nil {
		l.looks.reportLook(at)
	}
	if c, ok := openCalls[name]; ok {
		l.Answered.Opens++
		l.opens.decide(&c)
		return
	}
	l.Answered.Others++
	if name == Connect {
		l.contact.report()
	}
	switch {
	case looks, l.sockets == nil && (name == Connect || name == "bind"):
		l.answers.proceed()
	case name == Connect:
		l.sockets.connects.decide()
	case name == "bind":
		l.sockets.binds.decide()
	case name == "memfd_create":
		l.memory.create()
	default: // calls that the filter denies must never continue
		l.answers.deny(BySideDoor, name, "")
	}
}

// Close closes the descriptors that the listener opened, for a supervisor that goes on
// without it.
func (l *Listener) Close() { l.paths.close() }
