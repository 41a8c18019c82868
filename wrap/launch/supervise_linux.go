package launch

import (
	"time"

	"golang.org/x/sys/unix"

	"sbx/wrap/launch/cgroup"
)

// Exit is how a command ended.
type Exit struct {
	Code   int   // exit status; meaningless with Signal
	Signal int   // 0, or the signal that ended it
	Known  bool  // false: pid 1 was killed from outside and told nothing
	User   int64 // microseconds of the tree, as far as it was waited for
	System int64
	MaxRSS int64 // KiB, of the largest process
	Read   int64 // bytes that the tree had read from storage, as far as it was waited for
	Wrote  int64 // bytes that it gave to be written there

	Use     cgroup.Use // what the groups of its limits tell
	Changed string     // the file of a limit that somebody changed meanwhile; "" for none
}

// blockSize is what rusage counts input and output in (getrusage(2)).
const blockSize = 512

// Hooks are what a supervisor does while the command runs, one at a time, though not
// all in one thread. A hook may change them, unless it is Calls.Answer: poll(2) waits
// meanwhile for what there was. No hook may wait for anything that the sandbox controls,
// unless it is Calls.Answer and that is Apart.
type Hooks struct {
	Limits []Waiter // what ends the command: it waits for no hook, and shares nothing with one
	Wait   []Waiter // further descriptors, a handful
	Calls  *Calls   // of programs that wait for an answer; nil for none
	Idle   func()   // called once, when the command has run for a while
	// Ended is called once, when nothing of the sandbox runs any more. If pid 1
	// could tell so itself, the kernel takes the namespaces apart meanwhile,
	// which takes some hundred microseconds that Supervise waits for afterwards.
	Ended func(Exit)
	// Stop is called before the supervisor stops itself, as the terminal wants
	// all to stop.
	Stop func()
	// Below is how many processes of another tool's wait for the command, the child
	// itself among them.
	Below int
}

// idleAfter is how long a command has run before the supervisor does what a
// command that is over at once can do without.
const idleAfter = 200 * time.Millisecond

// Supervise forwards signals to the command and waits until it has ended and
// everything in its sandbox with it.
func (pr *Process) Supervise(h *Hooks) Exit {
	told := int32(-1) // where pid 1 tells of the end
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
		case behind: // another has the turn: what needs none is waited for meanwhile
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
		idles := h.Idle != nil && pf[0].Revents == 0 && time.Since(began) >= idleAfter // however busy the listener is
		if behind || idles || ready(pf[own:]) {
			behind = !calls.tryTurn(func() { h.work(calls.waiters, pf[own:], idles) })
		}
		if pf[2].Revents != 0 {
			rep, _ := readReport(pr.sock) // the end of pid 1 without a word shows by its pidfd
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

// work does what takes a turn. Where it had to wait for that it asks anew what there
// is to do.
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
	hooks := len(pf) - len(calls) // who was added since waits for the next round
	serve(h.Wait, pf[:hooks])
	serve(calls, pf[hooks:])
}

// wait reaps the child and, without a pid namespace, all that it left.
func (pr *Process) wait(h *Hooks, calls *answers) Exit {
	pr.renewal.close() // which would keep the mounts until the end of what follows
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

// finish is what is done when nothing of the sandbox runs any more: the terminal
// is taken back, so that what is said then reaches it, the groups tell what was
// used, and Ended is called. Whatever an answer waited for in the sandbox is gone.
func (pr *Process) finish(h *Hooks, calls *answers, e *Exit) {
	calls.end()
	alarm(0)
	if pr.terminal >= 0 {
		takeBack(pr.terminal)
	}
	if g := pr.groups.set; g != nil {
		e.Use, e.Changed = g.Use(), g.Changed()
	}
	if h.Ended != nil {
		h.Ended(*e)
	}
}

// exit is how the command ended, by what the child that is gone told or,
// without a pid namespace, by its own end.
func (pr *Process) exit(ws unix.WaitStatus) Exit {
	if pr.noPidNS {
		used := pr.used()
		pr.alarmIfReachable()
		sweepProcesses()
		if pr.killedFor != 0 && ws.ExitStatus() == 128+int(unix.SIGKILL) { // the tool knows no better
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
