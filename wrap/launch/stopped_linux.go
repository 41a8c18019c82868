package launch

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// stopped stops the supervisor where the command has stopped itself, as an editor
// does at Ctrl-Z: the shell that waits for the supervisor sees nobody else. What the
// terminal stops it stops together with the supervisor, unless the command has a
// group of its own.
func (k *signalForwarder) commandStopped(h *Hooks) {
	pid := pidOf(k.target)
	if !isStopped(pid) {
		return // it goes on already, as it does after a stop that the supervisor had, too
	}
	if k.terminal < 0 {
		if Terminal() >= 0 { // elsewhere nobody would let the supervisor go on
			k.stopAll(h)
		}
		return
	}
	switch fg, err := unix.IoctlGetInt(k.terminal, unix.TIOCGPGRP); {
	case err != nil:
		return
	case fg == unix.Getpgrp(): // a shell brought it to the foreground without a stop
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

// stop stops the supervisor, after everything inside: no limit is held meanwhile, no
// call answered, and nothing that falls off is mounted again. A command that stops
// itself does not get that for what it has left running.
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

// continueWait is how long the SIGCONT after a stop is waited for, in milliseconds. None
// comes where the kernel did not stop the supervisor.
const continueWait = 200

// awaitDelivery waits, for a bounded time, until a signal of the terminal is pending nowhere.
// The shell takes the terminal back as soon as the supervisor is stopped: a process that
// sleeps in read(2) then, and has not acted on its own signal, would take a key that is
// meant for the shell.
func (c *child) awaitDelivery(sig unix.Signal) {
	for i := 0; i < deliveryRounds && c.isPending(sig); i++ {
		_, _ = unix.Poll(nil, pollPause)
	}
}

// isPending reports whether a process of the tree has yet to act on a signal that was sent to
// its group. Those that block it never do, and those that sleep uninterruptibly read nothing.
func (c *child) isPending(sig unix.Signal) bool {
	return slices.ContainsFunc(c.tree(), func(pid int) bool {
		status := read.Status(strconv.Itoa(pid))
		return inSet(status, "ShdPnd:", sig) && !inSet(status, "SigBlk:", sig) && !strings.HasPrefix(read.StatusLine(status, "State:"), "D")
	})
}

// stopSelf stops the supervisor as the terminal's signal would have, by the
// kernel's own rules: one in an orphaned process group is not stopped. The SIGCONT that
// ended the stop is noted afterwards, or in a moment, by the thread that it came to.
func (k *signalForwarder) stopSelf(sig unix.Signal) {
	setDefault(uintptr(sig))
	unix.Tgkill(unix.Getpid(), unix.Gettid(), sig)
	handle(uintptr(sig))
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(k.signals), Events: unix.POLLIN}}, continueWait)
}

// The most that hold and awaitDelivery do until nothing runs any more.
const (
	stopRounds     = 50
	pollPause      = 2   // milliseconds
	deliveryRounds = 500 // of awaitDelivery: a second, on a busy machine
)

// hold stops every process of the tree and gives pidfds of those that were not
// stopped before. It is over with a round in which nothing ran: until then one that
// still runs can make others, or let them go on. It fails where that does not end.
func (c *child) stopTree() (held []int, all bool) {
	seen := map[int]bool{}
	command := pidOf(c.target)
	for range stopRounds {
		pids := c.tree()
		all = slices.Contains(pids, command) // else the kernel does not tell who is in the tree
		in := c.membership(pids)
		for _, pid := range pids {
			state := stateOf(pid)
			if isHeld(state) {
				continue
			}
			// Who sleeps uninterruptibly does nothing before it has met its signals.
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

// isHeld reports whether a process in that state runs no further by itself: it is
// stopped, by a tracer too, or has ended.
func isHeld(state byte) bool { return strings.IndexByte("TtZX", state) >= 0 }

// stateOf is the state of a process (proc_pid_stat(5)), X for one that is gone.
func stateOf(pid int) byte { return (read.Stat(strconv.Itoa(pid), read.StatState) + "X")[0] }

// isStopped reports whether a process is stopped, by no tracer.
func isStopped(pid int) bool { return pid > 0 && stateOf(pid) == 'T' }
