package launch

import "golang.org/x/sys/unix"

// Exit is how a command ended.
type Exit struct {
	Code   int   // exit status; meaningless with Signal
	Signal int   // 0, or the signal that ended it
	Known  bool  // false: pid 1 was killed from outside and told nothing
	User   int64 // microseconds of the tree, as far as it was waited for
	System int64
	MaxRSS int64 // KiB, of the largest process
}

// Hooks are what a supervisor does while the command runs. A hook may change
// them.
type Hooks struct {
	FD    int    // a descriptor to wait for besides; -1 for none
	Event func() // called when FD is readable
	Idle  func() // called once, when the command has run for a while
}

// idleAfter is how long a command has run, in milliseconds, before the
// supervisor does what is not about this run.
const idleAfter = 200

// siKernel is si_code for a signal that the kernel itself sent, a terminal's
// above all (sigaction(2)).
const siKernel = 0x80

// forwarded are the signals that the entry point blocked and a supervisor
// reads from a signalfd: the constant of entry_amd64.s but for CHLD.
const forwarded = 0xffffffffbffafa07

// Supervise forwards signals to the command and waits until it has ended and
// everything in its sandbox with it.
func (pr *Process) Supervise(h *Hooks) Exit {
	set := unix.Sigset_t{Val: [16]uint64{forwarded}}
	sfd, err := unix.Signalfd(-1, &set, unix.SFD_CLOEXEC|unix.SFD_NONBLOCK)
	if err != nil {
		sfd = -1
	}
	early := true
	for {
		pf := []unix.PollFd{
			{Fd: int32(pr.pidfd), Events: unix.POLLIN},
			{Fd: int32(sfd), Events: unix.POLLIN},
			{Fd: int32(h.FD), Events: unix.POLLIN},
		}
		timeout := -1
		switch {
		case early: // signals from before the command was there are its own, too
			timeout = 0
		case h.Idle != nil:
			timeout = idleAfter
		}
		n, err := unix.Poll(pf, timeout)
		if err != nil && err != unix.EINTR {
			break
		}
		if n == 0 && timeout == idleAfter {
			idle := h.Idle
			h.Idle = nil
			idle()
		}
		if pf[1].Revents&unix.POLLIN != 0 {
			pr.forward(sfd, early)
		}
		if pf[2].Revents&unix.POLLIN != 0 {
			h.Event()
		} else if pf[2].Revents != 0 {
			h.FD = -1
		}
		if pf[0].Revents != 0 {
			break
		}
		early = false
	}
	if sfd >= 0 {
		unix.Close(sfd)
	}
	return pr.wait()
}

// forward passes on what came, but for what the command got by itself: a
// terminal sends its signals to the whole foreground group.
func (pr *Process) forward(sfd int, all bool) {
	for {
		si, ok := signalInfo(sfd)
		if !ok {
			return
		}
		sig := unix.Signal(si.Signo)
		if si.Code == siKernel && !all {
			switch sig {
			case unix.SIGINT, unix.SIGQUIT, unix.SIGWINCH:
				continue
			case unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
				stopSelf(sig)
				continue
			}
		}
		if sig == unix.SIGURG && si.Pid == uint32(unix.Getpid()) {
			continue // the Go runtime's own
		}
		unix.PidfdSendSignal(pr.target, sig, nil, 0)
	}
}

// stopSelf stops the supervisor as the terminal's signal would have, by the
// kernel's own rules: one in an orphaned process group is not stopped.
func stopSelf(sig unix.Signal) {
	unix.Tgkill(unix.Getpid(), unix.Gettid(), sig)
	blockSignal(unix.SIG_UNBLOCK, sig)
	blockSignal(unix.SIG_BLOCK, sig)
}

// wait reaps the child and, without a pid namespace, all that it left.
func (pr *Process) wait() Exit {
	var ws unix.WaitStatus
	var ru unix.Rusage
	for {
		if _, err := unix.Wait4(pr.pid, &ws, 0, &ru); err != unix.EINTR {
			break
		}
	}
	exit := Exit{Known: true, User: ru.Utime.Sec*1e6 + ru.Utime.Usec, System: ru.Stime.Sec*1e6 + ru.Stime.Usec, MaxRSS: ru.Maxrss}
	if pr.begun == nil {
		sweepProcesses()
	} else if rep, err := pr.take(); err == nil && rep.kind == reportExited {
		ws = unix.WaitStatus(rep.value)
		exit.User, exit.System, exit.MaxRSS = rep.user, rep.system, rep.maxrss
	} else {
		exit = Exit{}
	}
	if ws.Signaled() {
		exit.Signal = int(ws.Signal())
	} else {
		exit.Code = ws.ExitStatus()
	}
	pr.closeAll()
	return exit
}

// Subreap makes the orphans of a sandbox without a pid namespace this
// process's children, so that they can be ended with it (prctl(2)).
func Subreap() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// sweepProcesses ends every descendant: those of a killed child become this
// process's own, and are ended in the next round.
func sweepProcesses() {
	for round := 0; round < 1000; round++ {
		if _, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); err == unix.ECHILD {
			return // none is left
		}
		for _, pid := range children() {
			unix.Kill(pid, unix.SIGKILL)
		}
		_, _ = unix.Wait4(-1, nil, 0, nil) // ECHILD ends the next round
	}
}
