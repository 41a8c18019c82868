package launch

import (
	"golang.org/x/sys/unix"
)

// Attend has a descriptor looked after whenever the process waits for the
// child: for its report, for its end, in Supervise and in Kill. A tracer's
// stops must be served all that time, or the child does not get there.
func (pr *Process) Attend(w Waiter) { pr.attended = append(pr.attended, w) }

// Collected takes note of a child's end that a Waiter has collected: a tracer
// waits for every child, and a status is handed out once.
func (pr *Process) Collected(pid int, status unix.WaitStatus, used *unix.Rusage) {
	pr.largest = max(pr.largest, used.Maxrss)
	if pid == pr.pid {
		pr.ended = &status
	}
}

// batch is how many ends reap collects before others have their turn.
const batch = 256

// reaps has the orphans of a sandbox without a pid namespace reaped as they end,
// which pid 1 does elsewhere: as zombies they would count against every limit of
// processes. A tracer collects all ends by itself.
func (pr *Process) reaps() {
	if pr.begun != nil || len(pr.attended) > 0 {
		return
	}
	wake, err := Children()
	if err != nil {
		return // they are reaped at the end
	}
	more := func() { _, _ = unix.Write(wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }
	more() // who ended before tells no more
	pr.Attend(Waiter{FD: wake, Event: func() {
		var b [8]byte
		_, _ = unix.Read(wake, b[:]) // before the look: what ends meanwhile makes it readable again
		for range batch {
			var status unix.WaitStatus
			var used unix.Rusage
			switch pid, err := unix.Wait4(-1, &status, unix.WNOHANG, &used); {
			case err == unix.EINTR:
			case err != nil || pid == 0:
				return
			default:
				pr.Collected(pid, status, &used)
			}
		}
		more()
	}})
}

// used is what the processes used that were waited for, the command and its
// orphans. A tracer is told of the end of other processes' children as well, so
// that the kernel's sum is taken.
func (pr *Process) used() unix.Rusage {
	var all unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_CHILDREN, &all)
	all.Utime = unix.NsecToTimeval(all.Utime.Nano() - pr.before.Utime.Nano())
	all.Stime = unix.NsecToTimeval(all.Stime.Nano() - pr.before.Stime.Nano())
	all.Inblock -= pr.before.Inblock
	all.Oublock -= pr.before.Oublock
	return all
}

func microseconds(t unix.Timeval) int64 { return t.Nano() / 1000 }

// collect waits for the child's end.
func (pr *Process) collect() unix.WaitStatus {
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
	for pr.ended == nil {
		var status unix.WaitStatus
		var used unix.Rusage
		if _, err := unix.Wait4(pr.pid, &status, 0, &used); err != unix.EINTR && !status.Stopped() {
			pr.Collected(pr.pid, status, &used)
		}
	}
	return *pr.ended
}

// CommandPid is the command's pid outside, 0 where it cannot be told. It is
// known once the command is ready.
func (pr *Process) CommandPid() int {
	if pr.begun == nil {
		return pr.pid
	}
	return max(pidOf(pr.target), 0)
}
