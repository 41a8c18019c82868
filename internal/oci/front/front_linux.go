package front

import "golang.org/x/sys/unix"

// Report returns the descriptor at which the supervisor tells its parent, which the engine waits
// for, that the container exists; 0 if front did not fork.
func Report() int { return int(report) }

// Slack restores the caller's timer slack on this thread. main calls it first, and again before
// starting or executing a program: threads that the Go runtime started before main keep a larger
// slack, with which its sysmon wakes less often (see package launch).
func Slack() {
	if int64(slack) >= 0 {
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, slack, 0, 0, 0)
	}
}
