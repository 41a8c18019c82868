package cgroup

import (
	"sbx/internal/read"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// prefix begins the names of all groups that sbx creates.
const prefix = "sbx-"

// name returns the name for this process's groups. The pid namespace, the pid and the start
// time distinguish it from every other process since boot; control groups do not outlive a
// boot.
func name() string {
	ns, start := namespace(), started(unix.Getpid())
	if ns == "" || start == "" {
		return ""
	}
	return prefix + ns + "-" + strconv.Itoa(unix.Getpid()) + "-" + start
}

// namespace returns the inode of this process's pid namespace.
func namespace() string {
	var st unix.Stat_t
	if unix.Stat("/proc/self/ns/pid", &st) != nil {
		return ""
	}
	return strconv.FormatUint(st.Ino, 10)
}

// started returns a process's start time; "" if there is no such
// process or it is a zombie.
func started(pid int) string {
	f := read.StatFields(strconv.Itoa(pid))
	if len(f) <= read.StatStart || f[read.StatState] == "Z" || f[read.StatState] == "X" {
		return ""
	}
	return f[read.StatStart]
}

// isAbandoned reports whether a group's supervisor is gone. The answer is no if that is
// unknown: for a group of another pid namespace, or a process that /proc hides.
func isAbandoned(group string) bool {
	rest, ok := strings.CutPrefix(group, prefix)
	f := strings.Split(rest, "-")
	if !ok || len(f) < 3 || f[0] != namespace() {
		return false
	}
	pid, err := strconv.Atoi(f[1])
	if err != nil || pid <= 0 {
		return false
	}
	start := started(pid)
	if start == "" {
		zombie := exists("/proc/" + f[1] + "/stat")
		return zombie || unix.Kill(pid, 0) == unix.ESRCH
	}
	return start != f[2]
}

// sweep removes abandoned groups from dir. A group with processes in it stays.
func (f dirCalls) sweep(dir string) {
	for _, group := range entries(dir) {
		if strings.HasPrefix(group, prefix) && isAbandoned(group) {
			_ = f.removeAll(dir+"/"+group, 0)
		}
	}
}

// maxDepth bounds how deep groups are removed: the command may have created groups in its own.
const maxDepth = 16

func (f dirCalls) removeAll(dir string, depth int) error {
	err := f.rmdir(dir)
	if err == nil || err == unix.ENOENT {
		return nil
	}
	if depth < maxDepth {
		for _, group := range entries(dir) {
			_ = f.removeAll(dir+"/"+group, depth+1)
		}
		err = f.rmdir(dir)
	}
	return newError("rmdir", dir, err)
}
