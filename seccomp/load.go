package seccomp

import "golang.org/x/sys/unix"

// Fprog is the program as seccomp(2) and prctl(2) want it. It points into p,
// which must not be empty and must stay as it is until the call is made.
func Fprog(p []unix.SockFilter) unix.SockFprog {
	return unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
}

// State is the answer to whether the kernel has something.
type State uint8

// The answers.
const (
	Yes     State = iota + 1
	No            // it says that it does not know it
	Unknown       // it would not say: a filter around this process refuses the question
)

// states names the answers.
var states = [...]string{Yes: "yes", No: "no", Unknown: "unknown"}

// String is "yes", "no" or "unknown".
func (s State) String() string {
	if s < Yes || s > Unknown {
		return "not asked"
	}
	return states[s]
}

// Answer is a State and, unless it is Yes, the errno that it was told from.
type Answer struct {
	State State
	Errno unix.Errno
}

// Support is what the running kernel can do with filters.
type Support struct {
	Filter      Answer // filters at all (Linux 3.17 for seccomp(2))
	KillProcess Answer // SECCOMP_RET_KILL_PROCESS (4.14)
	Log         Answer // SECCOMP_RET_LOG (4.14)
	Notify      Answer // SECCOMP_RET_USER_NOTIF (5.0)
	// Killable is SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (6.0). Without it a
	// signal interrupts a call that waits for its answer, and Go programs,
	// which send themselves signals, make it again for ever.
	Killable Answer
}

// answer reads the kernel's answer to a question that a kernel which has the
// thing answers with yes.
func answer(got, yes unix.Errno) Answer {
	switch got {
	case yes:
		return Answer{State: Yes}
	case unix.ENOSYS, unix.EINVAL, unix.EOPNOTSUPP:
		return Answer{State: No, Errno: got}
	}
	return Answer{State: Unknown, Errno: got}
}
