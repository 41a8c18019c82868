package launch

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// deliver sends a signal to the command. If another tool's processes stand between the
// supervisor and the command, it skips them: some of them kill everything at a signal that
// the command would have handled. It returns false if there is no such process yet.
func (k *signalForwarder) deliver(sig unix.Signal, below int) bool {
	pid, above := pidOf(k.target), 0
	for range below {
		next := read.Children(strconv.Itoa(pid))
		if len(next) == 0 {
			return false
		}
		pid, above = next[0], pid
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if read.Parent(pid) != above { // another process has this pid now
		return false
	}
	status := read.Status(strconv.Itoa(pid))
	if fatal(sig) && isFirst(status) && !heeds(status, sig) {
		k.killedFor = sig
		sig = unix.SIGKILL
	}
	return unix.PidfdSendSignal(fd, sig, nil, 0) == nil
}

// fatal reports whether a signal ends a process that has no handler for it (signal(7)).
func fatal(sig unix.Signal) bool {
	switch sig {
	case unix.SIGCHLD, unix.SIGCONT, unix.SIGURG, unix.SIGWINCH, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
		return false
	}
	return true
}

// isFirst reports whether a process is pid 1 of a namespace. The kernel drops signals to
// pid 1 for which it has no handler (pid_namespaces(7)).
func isFirst(status string) bool {
	all := strings.Fields(read.StatusLine(status, "NSpid:"))
	return len(all) > 1 && all[len(all)-1] == "1"
}

// heeds reports whether a process handles or ignores a signal.
func heeds(status string, sig unix.Signal) bool {
	return status == "" || inSet(status, "SigCgt:", sig) || inSet(status, "SigIgn:", sig)
}

// inSet reports whether a signal is in one of the sets of a status file (proc_pid_status(5)).
func inSet(status, name string, sig unix.Signal) bool {
	set, _ := strconv.ParseUint(read.StatusLine(status, name), 16, 64)
	return set&(1<<(sig-1)) != 0
}
