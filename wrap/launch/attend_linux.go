package launch

import (
	"sbx/internal/sys"

	"golang.org/x/sys/unix"
)

// reaper waits for the end of the child and of its orphans.
type reaper struct {
	*child
	attended       []Waiter
	ended          *unix.WaitStatus // the child's wait status, once collected
	largest        int64            // the largest MaxRSS of the collected processes, in KiB
	childrenBefore unix.Rusage      // the usage of this process's children before the launch
}

// Attend makes the supervisor serve a Waiter whenever it waits for the child: for a report, for its
// end, in Supervise and in Kill. A tracer's stops must be served all that time, or the child makes
// no progress.
func (r *reaper) Attend(w Waiter) { r.attended = append(r.attended, w) }

// Collected records the end of a process that a Waiter has collected: a tracer waits for every
// child, and the kernel reports each status only once.
func (r *reaper) Collected(pid int, status unix.WaitStatus, used *unix.Rusage) {
	r.largest = max(r.largest, used.Maxrss)
	if pid == r.pid {
		r.ended = &status
	}
}

// batch is how many ends are collected before other waiters are served.
const batch = 256

// reapOrphans has the orphans of a sandbox without a pid namespace reaped as they end. With a
// pid namespace pid 1 does this. Zombies would count against every limit of processes. A tracer
// collects all ends itself.
func (r *reaper) reapOrphans() {
	if !r.noPidNS || len(r.attended) > 0 {
		return
	}
	wake, err := Children()
	if err != nil {
		return // sweepProcesses reaps them at the end
	}
	sys.Ring(wake) // for processes that ended before
	r.Attend(Waiter{FD: wake, Event: func() {
		sys.Hush(wake) // before Wait4: a process that ends after this makes wake readable again
		for range batch {
			var status unix.WaitStatus
			var used unix.Rusage
			switch pid, err := unix.Wait4(-1, &status, unix.WNOHANG, &used); {
			case err == unix.EINTR:
			case err != nil || pid == 0:
				return
			default:
				r.Collected(pid, status, &used)
			}
		}
		sys.Ring(wake)
	}})
}

// used returns the resource usage of the processes that were waited for: the command and its
// orphans. It uses the kernel's sum, since a tracer is also notified of the end of other processes'
// children.
func (r *reaper) used() unix.Rusage {
	var all unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_CHILDREN, &all)
	all.Utime = unix.NsecToTimeval(all.Utime.Nano() - r.childrenBefore.Utime.Nano())
	all.Stime = unix.NsecToTimeval(all.Stime.Nano() - r.childrenBefore.Stime.Nano())
	all.Inblock -= r.childrenBefore.Inblock
	all.Oublock -= r.childrenBefore.Oublock
	return all
}

func microseconds(t unix.Timeval) int64 { return t.Nano() / 1000 }

// collect waits for the child's end.
func (r *reaper) collect() unix.WaitStatus {
	for len(r.attended) > 0 && r.ended == nil {
		pf := polled([]unix.PollFd{{Fd: int32(r.pidfd), Events: unix.POLLIN}}, r.attended)
		if _, err := unix.Poll(pf, -1); err != nil && err != unix.EINTR {
			break
		}
		serve(r.attended, pf[1:])
		if pf[0].Revents != 0 {
			break
		}
	}
	for r.ended == nil {
		var status unix.WaitStatus
		var used unix.Rusage
		if _, err := unix.Wait4(r.pid, &status, 0, &used); err != unix.EINTR && !status.Stopped() {
			r.Collected(r.pid, status, &used)
		}
	}
	return *r.ended
}
