package front

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// Report returns the descriptor at which the supervisor tells its parent, which the engine waits
// for, that the container exists; 0 if front did not fork.
func Report() int { return int(report) }

// Slack restores the caller's timer slack on this thread. main calls it first: threads that the Go runtime
// started before main keep a larger slack, with which its sysmon wakes less often (see package launch).
func Slack() {
	if int64(slack) >= 0 {
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, slack, 0, 0, 0)
	}
}

// AsCalled calls f, which starts or executes a program, with the timer slack and signal mask of this
// program's caller.
func AsCalled(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	Slack()
	if int64(slack) < 0 { // front did not run
		f()
		return
	}
	var ours unix.Sigset_t
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{Val: [16]uint64{mask}}, &ours)
	f()
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &ours, nil)
}

// Signals returns a descriptor (signalfd(2)) from which the signals are read that this program hands on to
// the runtime proper: for some sixty signals, package os/signal takes milliseconds. front has blocked them
// before the Go runtime started, but this unblocks SIGHUP, SIGINT, SIGQUIT and SIGTERM again.
func Signals() (fd int, err error) {
	return unix.Signalfd(-1, &unix.Sigset_t{Val: [16]uint64{signals}}, unix.SFD_CLOEXEC|unix.SFD_NONBLOCK)
}
