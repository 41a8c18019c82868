package listen

import (
	"golang.org/x/sys/unix"

	"sbx/seccomp"
)

// answers ends the caller's call, and reports denials to Config.Refused.
type answers struct {
	to       *caller
	refused  func(*Refusal)
	refusal  Refusal
	reported bool // the current call was reported as denied
}

// proceed lets the kernel make the call. gone reports that the caller no longer exists,
// so that the call is not made.
func (a *answers) proceed() (gone bool) { return seccomp.Continue(a.to.fd, a.to.n.ID) != 0 }

// fail, answer and give end the call: with an errno, a return value, or a new descriptor
// in the caller.
func (a *answers) fail(e unix.Errno)  { a.to.n.Fail(a.to.fd, e) }
func (a *answers) answer(value int64) { a.to.n.Answer(a.to.fd, value) }
func (a *answers) give(fd int, closesOnExec bool) unix.Errno {
	return a.to.n.Give(a.to.fd, fd, closesOnExec)
}

// deny reports the call as denied and ends it with EPERM.
func (a *answers) deny(cause Cause, action, target string) {
	a.report(cause, action, target)
	a.fail(unix.EPERM)
}

// report reports the call as denied, unless its thread is gone: the TID may by then
// belong to a process of the host, whose memory must not be reported.
func (a *answers) report(cause Cause, action, target string) {
	a.reported = true
	a.reportOf(a.to.n.ID, a.to.n.TID, cause, action, target)
}

// reportOf is report for an earlier notification with this id.
func (a *answers) reportOf(id uint64, tid uint32, cause Cause, action, target string) {
	if a.refused == nil || !seccomp.Valid(a.to.fd, id) {
		return
	}
	a.refusal = Refusal{TID: int(tid), Cause: cause, Action: action, Target: target}
	a.refused(&a.refusal)
}
