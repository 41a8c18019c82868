package launch

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"sbx/seccomp"
)

// errGone reports that the child ended without a report.
var errGone = &StepError{Program: "setup", Index: -1, Step: Step{Name: "launch"}, Errno: Errno(unix.ECHILD)}

// receive waits for the child's next report or its end. It answers the listener's first
// notification, which is the exec of the command itself and is not counted.
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
			if rep != nil && rep.kind == reportStopped { // the command goes on, or Supervise stops too
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
			pr.firstAnswered = true // later notifications wait for Supervise
			seccomp.Continue(pr.listener, n.ID)
		}
	}
}

// readReport reads one report from a socket without waiting. If a child ended before it read
// its message, the socket returns ECONNRESET before the child's report. Reading clears that
// error (unix_release_sock and sock_error of Linux), so the next read returns the report.
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
