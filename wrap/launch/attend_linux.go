package launch

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ended is how the child ended, as another was told.
type ended struct {
	status unix.WaitStatus
	used   unix.Rusage
}

// Attend has a descriptor looked after whenever the process waits for the
// child: for its report, for its end, in Supervise and in Kill. A tracer's
// stops must be served all that time, or the child does not get there.
func (pr *Process) Attend(w Waiter) { pr.attended = append(pr.attended, w) }

// Collected takes note of a child's end that a Waiter has collected: a tracer
// waits for every child, and a status is handed out once.
func (pr *Process) Collected(pid int, status unix.WaitStatus, used *unix.Rusage) {
	if pid == pr.pid {
		pr.ended = &ended{status, *used}
	}
}

// collect waits for the child's end.
func (pr *Process) collect() (unix.WaitStatus, unix.Rusage) {
	for len(pr.attended) > 0 && pr.ended == nil {
		pf := polled([]unix.PollFd{{Fd: int32(pr.pidfd), Events: unix.POLLIN}}, pr.attended)
		if _, err := unix.Poll(pf, -1); err != nil && err != unix.EINTR {
			break
		}
		serve(pr.attended, pf[1:])
		if pf[0].Revents != 0 {
			break
		}
	}
	var e ended
	for pr.ended == nil {
		if _, err := unix.Wait4(pr.pid, &e.status, 0, &e.used); err != unix.EINTR && !e.status.Stopped() {
			return e.status, e.used
		}
	}
	return pr.ended.status, pr.ended.used
}

// CommandPid is the command's pid outside, 0 where it cannot be told. It is
// known once the command is ready.
func (pr *Process) CommandPid() int {
	if pr.begun == nil {
		return pr.pid
	}
	// A pidfd tells its process in "Pid:" (pidfd_open(2) has it in fdinfo since
	// Linux 5.4).
	b, _ := readProc("/proc/self/fdinfo/"+strconv.Itoa(pr.target), 1<<12)
	for line := range strings.Lines(string(b)) {
		if word, found := strings.CutPrefix(line, "Pid:"); found {
			pid, _ := strconv.Atoi(strings.TrimSpace(word))
			return max(pid, 0)
		}
	}
	return 0
}
