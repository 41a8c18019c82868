package launch

import (
	"slices"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// Subreap makes the orphans of a sandbox without a pid namespace children of this process,
// so that they can be killed with it (prctl(2)).
func Subreap() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// helpers are the pids of this process's helpers, which outlive the command.
var helpers []int

// Spare makes a child of this process one of its helpers.
func Spare(pid int) { helpers = append(helpers, pid) }

// sweepProcesses kills every descendant except helpers. The children of a killed process
// become this process's own and are killed in the next round. A process that this one
// traces stays in its stop, since nobody serves it any more.
func sweepProcesses() {
	for round := 0; round < 1000; round++ {
		for { // all that have ended, so that a round kills one generation
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

// waitFor waits for the end of a child. A tracer or reapOrphans may have collected it already
// (ECHILD).
func waitFor(pid int) {
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); err != unix.EINTR {
			return
		}
	}
}
