package launch

import (
	"time"

	"golang.org/x/sys/unix"

	"sbx/wrap/launch/cgroup"
)

// Exit is how a command ended.
type Exit struct {
	Code   int  // exit status; meaningless with Signal
	Signal int  // the signal that ended the command; 0 for none
	Known  bool // false if pid 1 was killed from outside before it reported
	// Signalled is true if the supervisor received a signal for the command, which the command may
	// have got from its terminal itself.
	Signalled bool
	User      int64 // microseconds of all processes that were waited for
	System    int64
	MaxRSS    int64 // KiB, of the largest process
	Read      int64 // bytes read from storage by all processes that were waited for
	Wrote     int64 // bytes that they gave to storage

	Use     cgroup.Use // what the cgroups of its limits measured
	Changed string     // the file of a limit that another program changed during the run; "" for none
}

// blockSize is the unit of rusage's input and output (getrusage(2)).
const blockSize = 512

// Hooks are the supervisor's work while the command runs. They run one at a time, but not all
// in one thread. A hook may change Hooks, except Calls.Answer: poll(2) waits for the old
// ones at that moment. No hook may wait for anything that the sandbox controls, except
// Calls.Answer if Apart is set.
type Hooks struct {
	Limits []Waiter // enforce limits on the command; they run even during a hook, and share no data with hooks
	Wait   []Waiter // a few further descriptors
	Calls  *Calls   // nil for none
	Idle   func()   // called once, after idleAfter
	// Ended is called once, when no process of the sandbox runs any more. If pid 1 reported
	// this, the kernel dismantles the namespaces during Ended. That takes some hundred
	// microseconds, for which Supervise waits afterwards.
	Ended func(Exit)
	// Stop is called before the supervisor stops itself because the terminal stops all.
	Stop func()
	// Below is the number of processes of another sandbox tool between the supervisor and the
	// command, including the child.
	Below int
}

// idleAfter is how long a command must run before the supervisor does work that a short
// command does not need.
const idleAfter = 200 * time.Millisecond

// Supervise forwards signals to the command, and waits until the command and everything in
// its sandbox has ended.
func (pr *Process) Supervise(h *Hooks) Exit {
	told := int32(-1) // the socket on which pid 1 reports the end
	if !pr.noPidNS {
		told = int32(pr.sock)
	}
	calls := newAnswers(h.Calls)
	pr.reapOrphans()
	behind := false
	began := time.Now()
	pf := make([]unix.PollFd, 0, 8)
	for {
		pf = append(pf[:0], unix.PollFd{Fd: int32(pr.pidfd), Events: unix.POLLIN}, unix.PollFd{Fd: int32(pr.signals), Events: unix.POLLIN},
			unix.PollFd{Fd: told, Events: unix.POLLIN})
		pf = polled(polled(pf, h.Limits), pr.attended)
		timeout := -1
		switch {
		case behind: // another thread has the turn: until then wait only for what needs no turn
			timeout = 1
		case h.Idle != nil:
			timeout = int(max(idleAfter-time.Since(began)+time.Millisecond-1, 0) / time.Millisecond)
		}
		own := len(pf)
		if !behind {
			pf = polled(polled(pf, h.Wait), calls.waiters)
		}
		_, err := unix.Poll(pf, timeout)
		if err != nil && err != unix.EINTR {
			break
		}
		if pf[1].Revents&unix.POLLIN != 0 {
			calls.withTurn(func() { pr.forward(h) })
		}
		serve(h.Limits, pf[3:3+len(h.Limits)])
		serve(pr.attended, pf[3+len(h.Limits):own])
		idles := h.Idle != nil && pf[0].Revents == 0 && time.Since(began) >= idleAfter // even if the listener is busy
		if behind || idles || ready(pf[own:]) {
			behind = !calls.tryTurn(func() { h.work(calls.waiters, pf[own:], idles) })
		}
		if pf[2].Revents != 0 {
			rep, _ := readReport(pr.sock) // if pid 1 ends without a report, its pidfd becomes readable
			if rep != nil && rep.kind == reportStopped {
				calls.withTurn(func() {
					pr.commandStopped(h)
					pr.forward(h)
				})
				continue
			}
			told, pr.last = -1, rep
			if pr.last != nil && pr.last.kind == reportExited && pr.last.index == reportAllGone {
				break
			}
		}
		if pf[0].Revents != 0 {
			break
		}
	}
	calls.restorePriority()
	return pr.wait(h, calls)
}

// work runs the hooks that are ready. pf is empty if the turn had to be waited for; then
// work polls again.
func (h *Hooks) work(calls []Waiter, pf []unix.PollFd, idles bool) {
	if idles {
		idle := h.Idle
		h.Idle = nil
		idle()
	}
	if len(pf) == 0 {
		pf = polled(polled(nil, h.Wait), calls)
		_, _ = unix.Poll(pf, 0)
	}
	hooks := len(pf) - len(calls) // hooks added since the poll wait for the next round
	serve(h.Wait, pf[:hooks])
	serve(calls, pf[hooks:])
}

// wait reaps the child and, without a pid namespace, all its descendants.
func (pr *Process) wait(h *Hooks, calls *answers) Exit {
	pr.renewal.close() // its descriptors would keep the mounts until wait returns
	var exit Exit
	over := pr.last != nil && pr.last.kind == reportExited && pr.last.index == reportAllGone
	if over {
		exit = pr.last.exit()
		pr.finish(h, calls, &exit)
	}
	ws := pr.collect()
	if !over {
		exit = pr.exit(ws)
		pr.finish(h, calls, &exit)
	}
	pr.closeAll()
	return exit
}

// finish runs after the last process of the sandbox has ended. It takes the terminal back, so that
// later messages reach it, reads the cgroups, and calls Ended. No call from inside has to wait for
// an answer any more.
func (pr *Process) finish(h *Hooks, calls *answers, e *Exit) {
	calls.end()
	alarm(0)
	if pr.terminal >= 0 {
		takeBack(pr.terminal)
	}
	e.Signalled = pr.signalled
	if g := pr.groups.set; g != nil {
		e.Use, e.Changed = g.Use(), g.Changed()
	}
	if h.Ended != nil {
		h.Ended(*e)
	}
}

// exit returns how the command ended: from pid 1's report or, without a pid namespace, from the
// command's own wait status.
func (pr *Process) exit(ws unix.WaitStatus) Exit {
	if pr.noPidNS {
		used := pr.used()
		pr.alarmIfReachable()
		sweepProcesses()
		if pr.killedFor != 0 && ws.ExitStatus() == 128+int(unix.SIGKILL) { // the tool reports the SIGKILL by which deliver replaced the signal
			ws = unix.WaitStatus(128+int(pr.killedFor)) << 8
		}
		e := ending(ws, microseconds(used.Utime), microseconds(used.Stime), pr.largest)
		e.Read, e.Wrote = used.Inblock*blockSize, used.Oublock*blockSize
		return e
	}
	for pr.last == nil || pr.last.kind == reportStopped {
		if pr.last, _ = readReport(pr.sock); pr.last == nil {
			break
		}
	}
	if pr.last != nil && pr.last.kind == reportExited {
		return pr.last.exit()
	}
	e := ending(ws, 0, 0, 0)
	e.Known = false
	return e
}

func (r *report) exit() Exit {
	e := ending(unix.WaitStatus(r.value), r.user, r.system, r.maxrss)
	e.Read, e.Wrote = r.read*blockSize, r.wrote*blockSize
	return e
}

func ending(ws unix.WaitStatus, user, system, maxrss int64) Exit {
	e := Exit{Known: true, User: user, System: system, MaxRSS: maxrss}
	if ws.Signaled() {
		e.Signal = int(ws.Signal())
	} else {
		e.Code = ws.ExitStatus()
	}
	return e
}
