package launch

import (
	"golang.org/x/sys/unix"

	"sbx/seccomp"
)

// adopt takes over the descriptors that the child left for the supervisor.
func (pr *Process) adopt() {
	slots := pr.slots()
	take := func(s Slot) int {
		fd := int(slots[s])
		slots[s] = noFD
		return fd
	}
	pr.listener, pr.root, pr.named, pr.scratch = take(slotListener), take(slotRoot), take(slotTerminal), take(slotScratch)
	pr.renewal.adopt(take)
	for fd := range 3 { // the command has its own
		if d := take(slotStream + Slot(fd)); d >= 0 {
			unix.Close(d)
		}
	}
	if pr.listener >= 0 {
		seccomp.Sync(pr.listener)
	}
}

// Listener is the descriptor of seccomp's listener, -1 for none. The first
// notification, of the command itself, is Go's matter.
func (pr *Process) Listener() int { return pr.listener }

// Root is a descriptor of the sandbox's root directory (O_PATH), -1 where that is
// the supervisor's own or each process may have another.
func (pr *Process) Root() int { return pr.root }

// Scratch is a descriptor of the tmpfs in which the Plan's layers are (O_PATH), -1 where
// the Plan does not open it. It is good until Supervise returns.
func (pr *Process) Scratch() int { return pr.scratch }

// Child is the pid of the child that makes the sandbox.
func (pr *Process) Child() int { return pr.pid }

// End kills the sandbox; Supervise sees its end.
func (pr *Process) End() { _ = unix.PidfdSendSignal(pr.pidfd, unix.SIGKILL, nil, 0) }
