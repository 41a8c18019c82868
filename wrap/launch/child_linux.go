package launch

import (
	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// child is the process that the launch has cloned, with its descendants.
type child struct {
	noPidNS   bool // there is no pid namespace: the child is the command itself
	pid       int  // pid 1 of the sandbox, or the command; 0 before there is a child
	pidfd     int  // pidfd of pid
	selfPidfd int  // pidfd of the supervisor; -1 for none
	target    int  // pidfd of the command, the target of signals
	sock      int  // the supervisor's end of the socket
	childSock int  // the child's end, as long as the descriptor table is shared
}

// goOn sends the child the message to go on.
func (c *child) goOn() error {
	if err := unix.Send(c.sock, []byte{1}, unix.MSG_NOSIGNAL); err != nil {
		return stepError("send", err)
	}
	return nil
}

// closeChildSock closes the child's end in the supervisor.
func (c *child) closeChildSock() {
	unix.Close(c.childSock)
	c.childSock = -1
}

// close closes the descriptors after the child's end.
func (c *child) close() {
	if c.target != c.pidfd && c.target >= 0 {
		unix.Close(c.target)
	}
	closeFDs(&c.pidfd, &c.selfPidfd, &c.sock, &c.childSock)
	c.target = -1
}

// closeFDs closes those of the descriptors that are open.
func closeFDs(fds ...*int) {
	for _, fd := range fds {
		if *fd >= 0 {
			unix.Close(*fd)
		}
		*fd = -1
	}
}

// Child returns the pid of the child that sets up the sandbox.
func (c *child) Child() int { return c.pid }

// End kills the sandbox; Supervise sees its end.
func (c *child) End() { _ = unix.PidfdSendSignal(c.pidfd, unix.SIGKILL, nil, 0) }

// CommandPid returns the command's pid outside the sandbox, 0 if unknown. It is known once the
// command is ready.
func (c *child) CommandPid() int {
	if c.noPidNS {
		return c.pid
	}
	return max(pidOf(c.target), 0)
}

// pidOf returns the pid of a pidfd's process in this pid namespace; -1 if the process was
// waited for.
func pidOf(pidfd int) int {
	if pid, ok := read.Descriptor(pidfd, "Pid:"); ok { // since Linux 5.4
		return pid
	}
	return -1
}
