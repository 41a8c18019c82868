package landlock

import "golang.org/x/sys/unix"

// State is the answer to the question whether the kernel has Landlock.
type State uint8

// These are the answers.
const (
	Available State = iota + 1 // ABI says which version
	NotBuilt                   // this kernel was built without it, or is older than 5.13
	Disabled                   // built, but switched off at boot (the lsm= parameter)
	Unknown                    // the kernel did not answer: a filter around this process denied the question
)

// states has the reasons, for people.
var states = [...]string{
	Available: "available",
	NotBuilt:  "the kernel has no Landlock (it needs Linux 5.13 and CONFIG_SECURITY_LANDLOCK)",
	Disabled:  "Landlock was not switched on when the kernel started (lsm= lacks it)",
	Unknown:   "a filter around this process denies the call",
}

// String returns the answer as a reason.
func (s State) String() string {
	if int(s) >= len(states) || states[s] == "" {
		return "not asked"
	}
	return states[s]
}

// Support is what the running kernel's Landlock supports.
type Support struct {
	State State
	ABI   int // 0 unless Available
}

// Probe asks the kernel for its Landlock version. It restricts nothing and takes a few
// microseconds.
func Probe() Support {
	version, _, e := unix.RawSyscall(CreateRuleset, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	return answer(version, e)
}

// answer interprets the kernel's answer about its version.
func answer(version uintptr, e unix.Errno) Support {
	switch {
	case e == 0 && version > 0:
		return Support{State: Available, ABI: int(version)}
	case e == unix.ENOSYS:
		return Support{State: NotBuilt}
	case e == unix.EOPNOTSUPP:
		return Support{State: Disabled}
	}
	return Support{State: Unknown}
}
