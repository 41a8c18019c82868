package launch

import "golang.org/x/sys/unix"

// Kill ends the sandbox and waits for its end.
func (pr *Process) Kill() {
	if pr.pidfd >= 0 {
		unix.PidfdSendSignal(pr.pidfd, unix.SIGKILL, nil, 0)
		pr.collect()
	}
	pr.closeAll()
}

func (pr *Process) closeAll() {
	pr.groups.Remove()
	pr.groups = nil
	pr.closeSlots()
	if pr.target != pr.pidfd && pr.target >= 0 {
		unix.Close(pr.target)
	}
	for _, fd := range []int{pr.pidfd, pr.own, pr.sock, pr.far, pr.listener, pr.named, pr.root, pr.scratch} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	pr.renewal.close()
	pr.pidfd, pr.own, pr.sock, pr.far, pr.target, pr.listener, pr.named, pr.root, pr.scratch = -1, -1, -1, -1, -1, -1, -1, -1, -1
}

// slots are the results that the child keeps, nil before there is a child.
func (pr *Process) slots() *[64]uintptr {
	switch {
	case pr.begun != nil:
		return pr.begun.slots
	case pr.command != nil:
		return pr.command.slots
	}
	return nil
}

// closeSlots closes what a child that failed has left open in the descriptor
// table that it shared.
func (pr *Process) closeSlots() {
	slots := pr.slots()
	if slots == nil || pr.far < 0 { // it has left the table
		return
	}
	if pr.setup != nil && pr.setup.pidfd >= 0 && int(pr.setup.pidfd) != pr.target {
		unix.Close(int(pr.setup.pidfd))
	}
	for s := slotListener; s < 64; s++ {
		if fd := int(slots[s]); fd > 2 {
			unix.Close(fd)
		}
		slots[s] = noFD
	}
	if pr.setup != nil {
		pr.setup.pidfd = -1
	}
}
