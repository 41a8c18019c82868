package launch

import (
	"slices"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// Subreap makes the orphans of a sandbox without a pid namespace this
// process's children, so that they can be ended with it (prctl(2)).
func Subreap() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// helpers are the helpers of this process's, which outlive the command.
var helpers []int

// sweepProcesses ends every descendant but helpers: those of a killed child become this
// process's own, and are ended in the next round. What this process traces is
// held by its stops, which nobody serves any more.
func sweepProcesses() {
	for round := 0; round < 1000; round++ {
		for { // all that there is, so that a round is a generation
			pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
			if err == unix.ECHILD {
				return // none is left
			}
			if pid <= 0 && err != unix.EINTR {
				break
			}
		}
		left := false
		for _, pid := range read.Children("self") {
			if !slices.Contains(helpers, pid) {
				unix.Kill(pid, unix.SIGKILL)
				left = true
			}
		}
		if !left {
			return
		}
		_, _ = unix.Wait4(-1, nil, 0, nil) // ECHILD ends the next round
	}
}
