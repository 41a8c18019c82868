package launch

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// commandStopped stops the supervisor if the command has stopped itself, as an editor does
// at Ctrl-Z: the shell waits only for the supervisor. A stop by the terminal also stops the
// supervisor, unless the command has a process group of its own.
func (k *signalForwarder) commandStopped(h *Hooks) {
	pid := pidOf(k.target)
	if !isStopped(pid) {
		return // it runs again, for example after a stop that the supervisor shared
	}
	if k.terminal < 0 {
		if Terminal() >= 0 { // without a terminal no shell would continue the supervisor
			k.stopAll(h)
		}
		return
	}
	switch fg, err := unix.IoctlGetInt(k.terminal, unix.TIOCGPGRP); {
	case err != nil:
		return
	case fg == unix.Getpgrp(): // a shell brought the supervisor to the foreground without a stop
	case fg == pid:
		takeBack(k.terminal)
		k.stopAll(h)
	default:
		k.stopAll(h)
	}
	if fg, err := unix.IoctlGetInt(k.terminal, unix.TIOCGPGRP); err == nil && fg == unix.Getpgrp() {
		handOver(k.terminal, pid)
	}
	_ = unix.Kill(-pid, unix.SIGCONT)
}

// stopAll stops everything inside and then the supervisor. While the supervisor is stopped it
// enforces no limit, answers no call and restores no lost mount, so a command that stops
// itself must not leave other processes running.
func (k *signalForwarder) stopAll(h *Hooks) {
	held, all := k.stopTree()
	if all {
		if h.Stop != nil {
			h.Stop()
		}
		k.stopSelf(unix.SIGTSTP)
		k.ignoreStops = true
	}
	for _, fd := range held {
		unix.PidfdSendSignal(fd, unix.SIGCONT, nil, 0)
		unix.Close(fd)
	}
}

// continueWait is how long to wait for the SIGCONT after a stop, in milliseconds. It does not
// come if the kernel did not stop the supervisor.
const continueWait = 200

// awaitDelivery waits, for a bounded time, until a signal of the terminal is pending in no
// process.
// The shell takes the terminal back as soon as the supervisor is stopped. A process that
// then still sleeps in read(2), without having acted on the signal, would take a key that is
// meant for the shell.
func (c *child) awaitDelivery(sig unix.Signal) {
	for i := 0; i < deliveryRounds && c.isPending(sig); i++ {
		_, _ = unix.Poll(nil, pollPause)
	}
}

// isPending reports whether a process of the sandbox has yet to act on a signal sent to its
// group. Processes that block the signal never will, and processes in uninterruptible
// sleep read nothing.
func (c *child) isPending(sig unix.Signal) bool {
	return slices.ContainsFunc(c.tree(), func(pid int) bool {
		status := read.Status(strconv.Itoa(pid))
		return inSet(status, "ShdPnd:", sig) && !inSet(status, "SigBlk:", sig) && !strings.HasPrefix(read.StatusLine(status, "State:"), "D")
	})
}

// stopSelf stops the supervisor as the terminal's signal would, by the kernel's own rules: a
// process in an orphaned process group is not stopped. Afterwards the thread that receives
// SIGCONT records it, possibly a moment later.
func (k *signalForwarder) stopSelf(sig unix.Signal) {
	setDefault(uintptr(sig))
	unix.Tgkill(unix.Getpid(), unix.Gettid(), sig)
	handle(uintptr(sig))
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(k.signals), Events: unix.POLLIN}}, continueWait)
}

// Limits of stopTree and awaitDelivery.
const (
	stopRounds     = 50
	pollPause      = 2   // milliseconds
	deliveryRounds = 500 // one second for awaitDelivery, on a busy machine
)

// stopTree stops every process of the sandbox, and returns pidfds of those that were not
// stopped before. It is complete after a round in which no process ran: until then a
// running one can create others or continue them. all is false if that did not happen in time.
func (c *child) stopTree() (held []int, all bool) {
	seen := map[int]bool{}
	command := pidOf(c.target)
	for range stopRounds {
		pids := c.tree()
		all = slices.Contains(pids, command) // otherwise the kernel does not list the processes
		in := c.membership(pids)
		for _, pid := range pids {
			state := stateOf(pid)
			if isHeld(state) {
				continue
			}
			// A process in uninterruptible sleep handles its signals before it does anything else.
			all = all && state == 'D'
			fd, ok := openIn(in, pid)
			if !ok {
				continue
			}
			unix.PidfdSendSignal(fd, unix.SIGSTOP, nil, 0)
			if seen[pid] {
				unix.Close(fd)
				continue
			}
			seen[pid] = true
			held = append(held, fd)
		}
		if all {
			return held, true
		}
		_, _ = unix.Poll(nil, pollPause)
	}
	return held, false
}

// isHeld reports whether a process in that state cannot run by itself: it is stopped,
// possibly by a tracer, or has ended.
func isHeld(state byte) bool { return strings.IndexByte("TtZX", state) >= 0 }

// stateOf returns a process's state (proc_pid_stat(5)), X if it is gone.
func stateOf(pid int) byte { return (read.Stat(strconv.Itoa(pid), read.StatState) + "X")[0] }

// isStopped reports whether a process is stopped, but not by a tracer.
func isStopped(pid int) bool { return pid > 0 && stateOf(pid) == 'T' }
