package listen

import (
	"strconv"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// Refusal is one denied call.
type Refusal struct {
	TID    int
	Cause  Cause
	Action string // "create", "open for writing", "execute", a system call's name
	Target string // a path inside the sandbox, or an address; may be empty
}

// Cause is the reason of a denial.
type Cause uint8

// The causes.
const (
	ByBudget   Cause = iota
	ByName           // the call would create or move a protected path
	ReadOnly         // the mount is read-only
	BySocket         // the pathname socket was not made inside, or cannot be inspected
	ByNetwork        // the sandbox's network has no route there
	BySideDoor       // the syscall filter denies the call
	ByInner          // the budget of a nested sbx
	ByNarrow         // the network rules of a nested sbx
	ByAllow          // commands.allow does not name the program
	ByDeny           // commands.deny names it
	ByLoader         // the program is the dynamic loader
	Hidden           // the call looks for a hidden secret
	OutOfView        // no such program or directory inside; one may exist outside
)

// Values of Refusal.Action.
const (
	Execute    = "execute"
	Connect    = "connect"                   // to a path or by TCP, the only protocol of network.allow
	LookFor    = "look for"                  // check for a file or open it to read
	OpenInRoot = "open with RESOLVE_IN_ROOT" // for writing, which the listener always denies
	MakeLink   = "create a link"
	makeDir    = "create a directory"
	makeSocket = "create a socket"
	removeDir  = "remove a directory"
)

// KindOf returns the kind of access to a path that an action needs.
func KindOf(action string) wrap.ActKind {
	switch action {
	case "create", makeDir:
		return wrap.ToMake
	case MakeLink, makeSocket:
		return wrap.ToLink
	case "rename", "remove", removeDir:
		return wrap.ToTake
	case Execute, "open", "open for reading":
		return wrap.ToRead
	}
	return wrap.ToWrite
}

// connecting returns the action that is reported for a connect by an IP protocol.
func connecting(protocol int) string {
	switch protocol {
	case unix.IPPROTO_TCP, unix.IPPROTO_MPTCP:
		return Connect
	case unix.IPPROTO_UDP:
		return Connect + " by UDP"
	}
	return Connect + " by protocol " + strconv.Itoa(protocol)
}
