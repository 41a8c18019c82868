package listen

import (
	"strconv"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/seccomp"
)

// waits tells whether the thread still waits for its answer: else what was read may be
// another's.
func (c *caller) waits() bool { return seccomp.Valid(c.fd, c.n.ID) }

// proc is the path of a file of the waiting thread's in the supervisor's own
// /proc, a NUL at the end.
func (c *caller) proc(name string, number int32) []byte {
	b := append(make([]byte, 0, 64), "/proc/"...)
	b = strconv.AppendUint(b, uint64(c.n.TID), 10)
	b = append(append(b, '/'), name...)
	if number >= 0 {
		b = strconv.AppendInt(append(b, '/'), int64(number), 10)
	}
	return append(b, 0)
}

// openFD is what the thread's descriptor number leads to, by name only. ENOENT:
// there is none.
func (c *caller) openFD(number int32) (int, unix.Errno) {
	if number < 0 {
		return -1, unix.ENOENT
	}
	return openPath(c.proc("fd", number))
}

// closesOnExec tells whether the thread's descriptor is closed by an exec.
func (c *caller) closesOnExec(number int32) bool {
	info, _ := read.Proc(text(c.proc("fdinfo", number)), 1<<12)
	flags, err := strconv.ParseUint(read.StatusLine(string(info), "flags:"), 8, 64)
	return err == nil && flags&unix.O_CLOEXEC != 0
}

// process is the number of the waiting thread's process, -1 where that is not known.
func (c *caller) process() int { return c.statusOf("Tgid:") }

// statusOf is a number that /proc/TID/status has of the waiting thread; -1 where it
// cannot be read.
func (c *caller) statusOf(name string) int {
	v, err := strconv.Atoi(read.StatusLine(read.Status(strconv.Itoa(int(c.n.TID))), name))
	if err != nil {
		return -1
	}
	return v
}

// ancestors are the processes above the waiting thread's, the supervisor left out. ok is
// false where the way up cannot be told: it may be beneath any then. Orphans stay beneath
// an sbx, which is their subreaper (prctl(2)).
func (c *caller) ancestors() (pids []int, ok bool) {
	return climb(int(c.n.TID), unix.Getpid(), read.Parent)
}

// proceed lets the kernel decide. It tells whether the caller is gone, whose call is not
// made then.
func (a *answers) proceed() (gone bool) { return seccomp.Continue(a.to.fd, a.to.n.ID) != 0 }

// fail, answer and give end the call: with an error, a number, a descriptor.
func (a *answers) fail(e unix.Errno)  { a.to.n.Fail(a.to.fd, e) }
func (a *answers) answer(value int64) { a.to.n.Answer(a.to.fd, value) }
func (a *answers) give(fd int, closesOnExec bool) unix.Errno {
	return a.to.n.Give(a.to.fd, fd, closesOnExec)
}

// deny ends the call, and tells of it.
func (a *answers) deny(cause Cause, action, target string) {
	a.report(cause, action, target)
	a.fail(unix.EPERM)
}

// report tells of a call that does not succeed. A thread that is gone may have
// left its number to a process of the host's, whose memory is nobody's to tell.
func (a *answers) report(cause Cause, action, target string) {
	a.reported = true
	a.reportOf(a.to.n.ID, a.to.n.TID, cause, action, target)
}

// reportOf is report for a call that was taken before.
func (a *answers) reportOf(id uint64, tid uint32, cause Cause, action, target string) {
	if a.refused == nil || !seccomp.Valid(a.to.fd, id) {
		return
	}
	a.refusal = Refusal{TID: int(tid), Cause: cause, Action: action, Target: target}
	a.refused(&a.refusal)
}
