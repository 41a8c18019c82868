package launch

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"sbx/seccomp"
)

// errGone is the end of the child without a report.
var errGone = &StepError{Program: "setup", Index: -1, Step: Step{Name: "launch"}, Errno: Errno(unix.ECHILD)}

// receive waits for the child's next report, or for its end. The listener's
// first notification is the exec of the command itself, which nobody counts.
func (pr *Process) receive() (*report, error) {
	for {
		pf := []unix.PollFd{{Fd: int32(pr.sock), Events: unix.POLLIN}, {Fd: int32(pr.pidfd), Events: unix.POLLIN},
			{Fd: -1, Events: unix.POLLIN}}
		if !pr.firstAnswered {
			pf[2].Fd = int32(pr.listener)
		}
		pf = polled(pf, pr.attended)
		if _, err := unix.Poll(pf, -1); err != nil && err != unix.EINTR {
			return nil, stepError("poll", err)
		}
		if pf[0].Revents != 0 {
			rep, err := readReport(pr.sock)
			if rep != nil && rep.kind == reportStopped { // it goes on, or Supervise stays stopped with it
				continue
			}
			return rep, err
		}
		if pf[1].Revents != 0 {
			return nil, errGone
		}
		serve(pr.attended, pf[3:])
		var n seccomp.Notification
		if pf[2].Revents&unix.POLLIN != 0 && seccomp.Receive(pr.listener, &n) == 0 {
			pr.firstAnswered = true // what comes after it waits for who counts
			seccomp.Continue(pr.listener, n.ID)
		}
	}
}

// readReport reads one report off a socket; it does not wait. A child that ended before it read its
// word leaves ECONNRESET in front of what it reported; reading takes that off
// (unix_release_sock and sock_error of Linux), so the next one is the report.
func readReport(sock int) (*report, error) {
	rep := new(report)
	recv := func() (uintptr, syscall.Errno) {
		n, _, e := syscall.Syscall6(unix.SYS_RECVFROM, uintptr(sock), uintptr(unsafe.Pointer(rep)), reportSize,
			unix.MSG_DONTWAIT, 0, 0)
		return n, e
	}
	n, e := recv()
	if e == syscall.ECONNRESET {
		n, e = recv()
	}
	if e != 0 {
		return nil, stepError("recv", e)
	}
	if n != reportSize {
		return nil, errGone
	}
	return rep, nil
}
