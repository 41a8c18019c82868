package launch

import "golang.org/x/sys/unix"

// Kill ends the sandbox and waits for its end.
func (pr *Process) Kill() {
	if pr.pidfd >= 0 {
		unix.PidfdSendSignal(pr.pidfd, unix.SIGKILL, nil, 0)
		var ws unix.WaitStatus
		for {
			if _, err := unix.Wait4(pr.pid, &ws, 0, nil); err != unix.EINTR {
				break
			}
		}
	}
	pr.closeAll()
}

func (pr *Process) closeAll() {
	pr.closeSlots()
	if pr.target != pr.pidfd && pr.target >= 0 {
		unix.Close(pr.target)
	}
	for _, fd := range []int{pr.pidfd, pr.sock, pr.far} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	pr.pidfd, pr.sock, pr.far, pr.target = -1, -1, -1, -1
}

// closeSlots closes what a child that failed has left open in the descriptor
// table that it shared.
func (pr *Process) closeSlots() {
	if pr.begun == nil || pr.setup != nil && pr.setup.keep == nil { // it has left the table
		return
	}
	if pr.setup != nil && pr.setup.pidfd >= 0 && int(pr.setup.pidfd) != pr.target {
		unix.Close(int(pr.setup.pidfd))
	}
	for s := slotFirst; s < 64; s++ {
		if fd := int(pr.begun.slots[s]); fd > 2 {
			unix.Close(fd)
		}
		pr.begun.slots[s] = noFD
	}
	if pr.setup != nil {
		pr.setup.pidfd = -1
	}
}
