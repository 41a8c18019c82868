package launch

import (
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Helper is a program of the host's, outside of every namespace of the sandbox, that
// works for one command: sbx-egress, by which it reaches what network.allow names and is
// reached at what network.listen names, and sbx-broker, which runs tools for it.
type Helper struct {
	FD    int // the supervisor's end of the socket between them; it is not waited for
	pid   int // 0 once it is gone
	pidfd int // -1 where the kernel has none
}

// patience is how long a helper may take to tell how its work ended.
const patience = 1500 * time.Millisecond

// StartHelper starts a program whose descriptor 3 is its end of a socket of a kind
// (unix.SOCK_SEQPACKET, SOCK_STREAM). It has a session of its own, so that no terminal
// ends it, nothing of the caller's standard streams, and no descriptor besides. It ends
// when its socket does.
func StartHelper(kind int, argv, env []string) (*Helper, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(ends[1])
	null, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		unix.Close(ends[0])
		return nil, err
	}
	defer unix.Close(null)
	_ = unix.SetNonblock(ends[0], true)
	std, pidfd := uintptr(null), -1
	pid, err := syscall.ForkExec(argv[0], argv, &syscall.ProcAttr{Dir: "/", Env: env,
		Files: []uintptr{std, std, std, uintptr(ends[1])}, Sys: &syscall.SysProcAttr{Setsid: true, PidFD: &pidfd}})
	if err != nil {
		unix.Close(ends[0])
		return nil, err
	}
	helpers = append(helpers, pid)
	return &Helper{FD: ends[0], pid: pid, pidfd: pidfd}, nil
}

// Tell sends a message, with descriptors beside it, and waits for the helper to take
// what came before. One that is gone shows by the end of the socket.
func (r *Helper) Tell(packet []byte, fds []int) {
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	for {
		err := unix.Sendmsg(r.FD, packet, rights, nil, unix.MSG_NOSIGNAL)
		if err != unix.EAGAIN {
			return
		}
		pf := []unix.PollFd{{Fd: int32(r.FD), Events: unix.POLLOUT}}
		if n, _ := unix.Poll(pf, int(patience/time.Millisecond)); n == 0 { // it is of no use
			_ = unix.Shutdown(r.FD, unix.SHUT_RDWR)
			return
		}
	}
}

// Stop tells the helper that nothing of the sandbox is left, and ends it as Finish does.
func (r *Helper) Stop(hear func() bool) {
	_ = unix.Shutdown(r.FD, unix.SHUT_WR)
	r.Finish(hear)
}

// Finish hands what the helper still says to hear, which reports whether there may be more,
// until it is through, and ends it.
func (r *Helper) Finish(hear func() bool) {
	pf := []unix.PollFd{{Fd: int32(r.FD), Events: unix.POLLIN}}
	for end := time.Now().Add(patience); hear(); {
		left := time.Until(end)
		if left <= 0 {
			break
		}
		_, _ = unix.Poll(pf, int(left/time.Millisecond)+1)
	}
	r.Kill()
}

// Kill ends the helper and waits for its end.
func (r *Helper) Kill() {
	if r == nil || r.pid == 0 {
		return
	}
	unix.Close(r.FD)
	if r.pidfd >= 0 {
		_ = unix.PidfdSendSignal(r.pidfd, unix.SIGKILL, nil, 0)
		unix.Close(r.pidfd)
	}
	for { // whoever collects a sandbox's orphans may have collected it: ECHILD
		if _, err := unix.Wait4(r.pid, nil, 0, nil); err != unix.EINTR {
			break
		}
	}
	helpers = slices.DeleteFunc(helpers, func(pid int) bool { return pid == r.pid })
	r.pid = 0
}

// LookupSocket is where queries for names come to in the sandbox's network, -1 for none.
func (s *script) LookupSocket() int {
	if !s.opening.Lookups {
		return -1 // the slot is another's
	}
	return s.take(slotLookups)
}

// BrokerSocket is where the command finds the broker, in its network; -1 for none.
func (s *script) BrokerSocket() int {
	if !s.opening.Broker {
		return -1
	}
	return s.take(slotBroker)
}

// RelaySockets are the relay's sockets in the sandbox's network, those of its doors last,
// of which none stays open here once Close has been called for each: a relay that is gone
// shows inside by the kernel's refusal. -1 stands for one that is not there.
func (s *script) RelaySockets() (fds [10]int) {
	take := func(to []int, there bool, first Slot) {
		for i := range to {
			to[i] = -1
			if there {
				to[i] = s.take(first + Slot(i))
			}
		}
	}
	take(fds[:6], s.opening.Egress, slotEgress)
	take(fds[6:], s.opening.Doors, slotDoors)
	if fds[8] >= 0 && fds[9] < 0 { // IPv6 is shut off there
		unix.Close(fds[8])
		fds[8] = -1
	}
	return fds
}
