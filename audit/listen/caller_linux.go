package listen

import (
	"strconv"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/seccomp"
)

// waits reports whether the thread still waits for its answer. If it does not, its TID
// may have been reused and what was read may be another process's.
func (c *caller) waits() bool { return seccomp.Valid(c.fd, c.n.ID) }

// proc returns the NUL-terminated path /proc/TID/name of the waiting thread, with
// /number appended unless that is negative, for the supervisor's own /proc.
func (c *caller) proc(name string, number int32) []byte {
	b := append(make([]byte, 0, 64), "/proc/"...)
	b = strconv.AppendUint(b, uint64(c.n.TID), 10)
	b = append(append(b, '/'), name...)
	if number >= 0 {
		b = strconv.AppendInt(append(b, '/'), int64(number), 10)
	}
	return append(b, 0)
}

// openFD opens with O_PATH the file behind the thread's descriptor number. ENOENT means
// that the thread has no such descriptor.
func (c *caller) openFD(number int32) (int, unix.Errno) {
	if number < 0 {
		return -1, unix.ENOENT
	}
	return openPath(c.proc("fd", number))
}

// closesOnExec reports whether the thread's descriptor has the close-on-exec flag.
func (c *caller) closesOnExec(number int32) bool {
	info, _ := read.Proc(text(c.proc("fdinfo", number)), 1<<12)
	flags, err := strconv.ParseUint(read.StatusLine(string(info), "flags:"), 8, 64)
	return err == nil && flags&unix.O_CLOEXEC != 0
}

// process returns the PID of the waiting thread's process, -1 if it is unknown.
func (c *caller) process() int { return c.statusOf("Tgid:") }

// statusOf returns a numeric field of the waiting thread's /proc/TID/status, -1 if that
// cannot be read.
func (c *caller) statusOf(name string) int {
	v, err := strconv.Atoi(read.StatusLine(read.Status(strconv.Itoa(int(c.n.TID))), name))
	if err != nil {
		return -1
	}
	return v
}

// ancestors returns the ancestor processes of the waiting thread up to the supervisor,
// which is not listed. If ok is false they could not be determined, and the thread may
// descend from any process. Orphans stay descendants of the nearest sbx, which is their
// subreaper (prctl(2)).
func (c *caller) ancestors() (pids []int, ok bool) {
	return climb(int(c.n.TID), unix.Getpid(), read.Parent)
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
