package launch

import (
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Helper is a program of the host that works for one command, outside every namespace of
// the sandbox: sbx-egress, through which the command reaches network.allow and is reached at
// network.listen, or sbx-broker, which runs tools for it.
type Helper struct {
	FD    int // the supervisor's end of the socket to the helper; nonblocking
	pid   int // 0 once the helper is gone
	pidfd int // -1 if the kernel supports none
}

// patience is how long a helper may take to report how its work ended.
const patience = 1500 * time.Millisecond

// StartHelper starts a program whose descriptor 3 is its end of a socket of the given kind
// (unix.SOCK_SEQPACKET or SOCK_STREAM). The program has a session of its own, so that no
// terminal ends it, /dev/null as its standard streams, and no other descriptor. It ends when
// its
// socket is closed.
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
	Spare(pid)
	return &Helper{FD: ends[0], pid: pid, pidfd: pidfd}, nil
}

// Tell sends a message and descriptors, and waits until the helper has taken earlier
// messages. If the helper is gone, the end of the socket shows it.
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
		if n, _ := unix.Poll(pf, int(patience/time.Millisecond)); n == 0 { // the helper does not respond
			_ = unix.Shutdown(r.FD, unix.SHUT_RDWR)
			return
		}
	}
}

// Stop tells the helper that the sandbox has ended, and ends the helper as Finish does.
func (r *Helper) Stop(hear func() bool) {
	_ = unix.Shutdown(r.FD, unix.SHUT_WR)
	r.Finish(hear)
}

// Finish calls hear for the helper's remaining messages until hear returns false, and kills
// the helper.
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

// Kill kills the helper and waits for its end.
func (r *Helper) Kill() {
	if r == nil || r.pid == 0 {
		return
	}
	unix.Close(r.FD)
	if r.pidfd >= 0 {
		_ = unix.PidfdSendSignal(r.pidfd, unix.SIGKILL, nil, 0)
		unix.Close(r.pidfd)
	}
	waitFor(r.pid)
	helpers = slices.DeleteFunc(helpers, func(pid int) bool { return pid == r.pid })
	r.pid = 0
}

// LookupSocket returns the socket in the sandbox's network that receives DNS queries, -1 for none.
func (s *script) LookupSocket() int {
	if !s.opening.Lookups {
		return -1 // the slot has another use
	}
	return s.take(slotLookups)
}

// BrokerSocket returns the socket in the sandbox's network at which the command reaches the broker;
// -1 for none.
func (s *script) BrokerSocket() int {
	if !s.opening.Broker {
		return -1
	}
	return s.take(slotBroker)
}

// RelaySockets returns the relay's sockets in the sandbox's network, followed by those for
// network.listen; -1 stands for one that does not exist. The caller must close them all after the
// relay has them: if the relay ends, the kernel then refuses connections inside.
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
	if fds[8] >= 0 && fds[9] < 0 { // IPv6 is disabled in the sandbox's network
		unix.Close(fds[8])
		fds[8] = -1
	}
	return fds
}
