package launch

import (
	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// child is the process that the launch has made, and who descends from it.
type child struct {
	noPidNS   bool // it is the command itself: there is no pid namespace
	pid       int  // pid 1 of the sandbox, or the command; 0 before there is a child
	pidfd     int  // of pid
	selfPidfd int  // pidfd of this process; -1 for none
	target    int  // pidfd of the command, which signals go to
	sock      int  // the supervisor's end
	childSock int  // the child's end, while the descriptor table is shared
}

// word sends the child its next word to go on.
func (c *child) goOn() error {
	if err := unix.Send(c.sock, []byte{1}, unix.MSG_NOSIGNAL); err != nil {
		return stepError("send", err)
	}
	return nil
}

// closeFar closes the child's end, which has it alone from here on.
func (c *child) closeChildSock() {
	unix.Close(c.childSock)
	c.childSock = -1
}

// close closes the descriptors of a child that is gone.
func (c *child) close() {
	if c.target != c.pidfd && c.target >= 0 {
		unix.Close(c.target)
	}
	closeFDs(&c.pidfd, &c.selfPidfd, &c.sock, &c.childSock)
	c.target = -1
}

// closeFDs closes the descriptors that there are.
func closeFDs(fds ...*int) {
	for _, fd := range fds {
		if *fd >= 0 {
			unix.Close(*fd)
		}
		*fd = -1
	}
}

// Child is the pid of the child that makes the sandbox.
func (c *child) Child() int { return c.pid }

// End kills the sandbox; Supervise sees its end.
func (c *child) End() { _ = unix.PidfdSendSignal(c.pidfd, unix.SIGKILL, nil, 0) }

// CommandPid is the command's pid outside, 0 where it cannot be told. It is
// known once the command is ready.
func (c *child) CommandPid() int {
	if c.noPidNS {
		return c.pid
	}
	return max(pidOf(c.target), 0)
}

// pidOf is the pid that a pidfd stands for, as this process sees it; -1 for one that
// was waited for.
func pidOf(pidfd int) int {
	if pid, ok := read.Descriptor(pidfd, "Pid:"); ok { // since Linux 5.4
		return pid
	}
	return -1
}
