package launch

import "golang.org/x/sys/unix"

// reaper waits for the child's end, and for its orphans'.
type reaper struct {
	*child
	attended       []Waiter
	ended          *unix.WaitStatus // the child's end, once it is collected
	largest        int64            // KiB, of the processes whose end was collected
	childrenBefore unix.Rusage      // what this process's children had used before
}

// Attend has a descriptor looked after whenever the process waits for the
// child: for its report, for its end, in Supervise and in Kill. A tracer's
// stops must be served all that time, or the child does not get there.
func (r *reaper) Attend(w Waiter) { r.attended = append(r.attended, w) }

// Collected takes note of a child's end that a Waiter has collected: a tracer
// waits for every child, and a status is handed out once.
func (r *reaper) Collected(pid int, status unix.WaitStatus, used *unix.Rusage) {
	r.largest = max(r.largest, used.Maxrss)
	if pid == r.pid {
		r.ended = &status
	}
}

// batch is how many ends reap collects before others have their turn.
const batch = 256

// reaps has the orphans of a sandbox without a pid namespace reaped as they end,
// which pid 1 does elsewhere: as zombies they would count against every limit of
// processes. A tracer collects all ends by itself.
func (r *reaper) reapOrphans() {
	if !r.noPidNS || len(r.attended) > 0 {
		return
	}
	wake, err := Children()
	if err != nil {
		return // they are reaped at the end
	}
	more := func() { _, _ = unix.Write(wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) }
	more() // who ended before tells no more
	r.Attend(Waiter{FD: wake, Event: func() {
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
				r.Collected(pid, status, &used)
			}
		}
		more()
	}})
}

// used is what the processes used that were waited for, the command and its
// orphans. A tracer is told of the end of other processes' children as well, so
// that the kernel's sum is taken.
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
