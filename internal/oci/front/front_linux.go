package front

import "golang.org/x/sys/unix"

// Report is the descriptor at which whoever stays with a container tells the process that
// the engine waits for that it is there; 0 where there is no such process.
func Report() int { return int(report) }

// Slack puts the timer slack of this thread back to the caller's: main's first call, and
// before a program is started or become, for the threads that the Go runtime started before
// main keep another, by which its sysmon wakes less often (see package launch).
func Slack() {
	if int64(slack) >= 0 {
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, slack, 0, 0, 0)
	}
}
