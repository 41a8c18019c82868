package cgroup

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// prefix begins the name of every group that sbx makes.
const prefix = "sbx-"

// name is what this process's groups are called: the pid namespace, the pid and
// the start time tell it from every other process of this boot, and control
// groups do not outlive one.
func name() string {
	ns, start := namespace(), started(unix.Getpid())
	if ns == "" || start == "" {
		return ""
	}
	return prefix + ns + "-" + strconv.Itoa(unix.Getpid()) + "-" + start
}

// namespace is the inode of this process's pid namespace.
func namespace() string {
	var st unix.Stat_t
	if unix.Stat("/proc/self/ns/pid", &st) != nil {
		return ""
	}
	return strconv.FormatUint(st.Ino, 10)
}

// started is the start time of a process, field 22 of /proc/pid/stat; "" where
// there is none, or only its entry is left.
func started(pid int) string {
	stat := readText("/proc/" + strconv.Itoa(pid) + "/stat")
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:]) // f[0] is field 3
	if len(f) < 20 || f[0] == "Z" || f[0] == "X" {
		return ""
	}
	return f[19]
}

// lost reports whether a name is that of a group whose supervisor is gone. What
// cannot be told is not lost: another pid namespace's, or a process that /proc
// hides.
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

// sweep removes from dir the groups that supervisors which are gone have left.
// One with processes in it stays.
func (f dirCalls) sweep(dir string) {
	for _, group := range entries(dir) {
		if strings.HasPrefix(group, prefix) && isAbandoned(group) {
			_ = f.removeAll(dir+"/"+group, 0)
		}
	}
}

// maxDepth bounds what is removed with a group: groups that the command made in
// it where it could.
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
