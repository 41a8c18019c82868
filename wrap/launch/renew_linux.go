package launch

import (
	"runtime"

	"golang.org/x/sys/unix"

	"sbx/wrap"
)

// renewal is what the supervisor keeps in order to restore lost mounts.
type renewal struct {
	list    []wrap.Renewal
	in      sandboxFDs
	remount bool // from the Plan
}

var noRenewal = renewal{in: sandboxFDs{user: -1, mounts: -1, masks: [2]int{-1, -1}}}

// adopt takes over the descriptors that the child left.
func (r *renewal) adopt(take func(Slot) int) {
	r.in.user, r.in.mounts = take(slotUser), take(slotMounts)
	r.in.masks = [2]int{take(slotMask), take(slotMask + 1)}
}

func (r *renewal) close() {
	closeFDs(&r.in.user, &r.in.mounts, &r.in.masks[0], &r.in.masks[1])
}

// MaskDir returns a descriptor of the empty directory that masks other directories, -1 for none.
func (f *childFDs) MaskDir() int {
	for i, slot := range maskSlots(f.renewal.list) {
		if slot == wrap.SlotEmpty {
			return f.renewal.in.masks[i]
		}
	}
	return -1
}

// Renewal is a child in progress that restores the lost mounts of a running sandbox, and any
// other mount of the Plan's renewals that is missing.
type Renewal struct {
	steps []Step
	pid   int
	pidfd int
	sock  int
	ended bool // it reported success or why it failed
}

// Renew begins to restore lost mounts inside the sandbox. It does not wait: Read reports the
// child's outcome.
func (f *childFDs) Renew() (*Renewal, error) {
	if f.renewal.in.mounts < 0 {
		return nil, renewalError("setns", unix.EBADF)
	}
	return renew(renewalSteps(f.renewal.list, f.renewal.in, f.renewal.remount))
}

// renew is Renew with the given steps. The child shares no memory, since a process that does
// cannot join a user namespace (setns(2)).
func renew(steps []Step) (*Renewal, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, renewalError("socketpair", err)
	}
	defer unix.Close(ends[1])
	p := newProgram(steps, reportFailedRenewal)
	p.sock = uintptr(ends[1])
	pid, errno := p.clone(unix.CLONE_PIDFD|uintptr(unix.SIGCHLD), &p.pidfd)
	runtime.KeepAlive(p)
	if errno != 0 {
		unix.Close(ends[0])
		return nil, renewalError("clone", errno)
	}
	return &Renewal{steps: steps, pid: pid, pidfd: int(p.pidfd), sock: ends[0]}, nil
}

func renewalError(name string, err error) *StepError {
	e := stepError(name, err)
	e.Program = "renewal"
	return e
}

// FD returns a descriptor that is readable when Read has a result.
func (r *Renewal) FD() int { return r.sock }

// Read returns the steps that failed since the last call, and whether the child is gone; it
// does not wait. If a failed step has no object, nothing was mounted.
func (r *Renewal) Read() (failed []*StepError, gone bool) {
	for r.sock >= 0 {
		rep, err := readReport(r.sock)
		switch {
		case err != nil && err.(*StepError).Errno == Errno(unix.EAGAIN):
			return failed, false
		case err != nil:
			failed = append(failed, r.reap()...)
		case rep.kind == reportStarted:
			r.ended = true
		default:
			e := &StepError{Program: "renewal", Index: int(rep.index), Errno: Errno(rep.value)}
			if e.Index < len(r.steps) {
				e.Step = r.steps[e.Index]
				r.ended = r.ended || !e.Step.Tolerant // the child gave up at this step
			}
			failed = append(failed, e)
		}
	}
	return failed, true
}

// reap collects a child that has closed its end of the socket, which it does just before it
// ends.
func (r *Renewal) reap() []*StepError {
	unix.Close(r.sock)
	r.sock = -1
	defer unix.Close(r.pidfd)
	waitFor(r.pid)
	if r.ended {
		return nil
	}
	return []*StepError{renewalError("renew", unix.ESRCH)}
}

// Kill kills the child. Read reports when it is gone, which may take long if the child
// waits for a file server.
func (r *Renewal) Kill() {
	if r.sock >= 0 {
		_ = unix.PidfdSendSignal(r.pidfd, unix.SIGKILL, nil, 0)
	}
}
