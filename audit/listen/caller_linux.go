package listen

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/seccomp"
)

// caller gives access to the thread that waits for an answer: its call, its memory and
// its /proc. It cannot answer the call.
//
// The types that answer calls embed caller and the parts below, each only those that it
// needs: paths resolves paths, Rules holds what the spec says about them, answers ends
// the call.
type caller struct {
	fd     int // seccomp's listener
	n      seccomp.Notification
	call   seccomp.Call
	path   [pathMax]byte // of a program or a socket, as the caller passed it
	byFile bool          // read memory through /proc/TID/mem only
}

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

// lower drops from this thread's effective set the capabilities that the caller does not
// have, until back is called. It fails if the caller's user differs from the supervisor's
// or its status cannot be read.
func (c *caller) lower() (back func(), ok bool) {
	status := read.Status(strconv.Itoa(int(c.n.TID)))
	caps, ok := sameUser(status, unix.Geteuid(), unix.Getegid())
	if !ok || !c.waits() {
		return nil, false
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var own [2]unix.CapUserData
	if unix.Capget(&header, &own[0]) != nil {
		return nil, false
	}
	less := own
	less[0].Effective &= uint32(caps)
	less[1].Effective &= uint32(caps >> 32)
	if less == own {
		return func() {}, true
	}
	if unix.Capset(&header, &less[0]) != nil {
		return nil, false
	}
	return func() { _ = unix.Capset(&header, &own[0]) }, true // these capabilities are still in the permitted set
}

// sameUser reads a status file, proc_pid_status(5). It returns the thread's effective
// capabilities and whether its filesystem uid and gid are those given.
func sameUser(status string, uid, gid int) (caps uint64, ok bool) {
	caps, err := strconv.ParseUint(read.StatusLine(status, "CapEff:"), 16, 64)
	last := func(name string) string { // the id that file access uses
		line := read.StatusLine(status, name)
		return line[strings.LastIndexByte(line, '\t')+1:]
	}
	return caps, err == nil && last("Uid:") == strconv.Itoa(uid) && last("Gid:") == strconv.Itoa(gid)
}
