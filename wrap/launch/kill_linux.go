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
	pr.groups.remove()
	pr.closeSlots()
	pr.child.close()
	pr.left.close()
}

// slots are the results that the child keeps, nil before there is a child.
func (s *script) slots() *[64]uintptr {
	switch {
	case s.begun != nil:
		return s.begun.slots
	case s.command != nil:
		return s.command.slots
	}
	return nil
}

// take gives the descriptor in a slot to the caller.
func (s *script) take(at Slot) int {
	slots := s.slots()
	fd := int(slots[at])
	slots[at] = noFD
	return fd
}

// closeSlots closes what a child that failed has left open in the descriptor
// table that it shared.
func (s *script) closeSlots() {
	slots := s.slots()
	if slots == nil || s.far < 0 { // it has left the table
		return
	}
	if s.setup != nil && s.setup.pidfd >= 0 && int(s.setup.pidfd) != s.target {
		unix.Close(int(s.setup.pidfd))
	}
	for at := slotListener; at < 64; at++ {
		if fd := int(slots[at]); fd > 2 {
			unix.Close(fd)
		}
		slots[at] = noFD
	}
	if s.setup != nil {
		s.setup.pidfd = -1
	}
}
