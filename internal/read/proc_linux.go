package read

import (
	"bytes"
	"strconv"
	"strings"
)

// The maximum sizes read of short files in /proc/PID, in bytes.
const (
	statMax   = 1 << 12
	statusMax = 1 << 13
)

// Fields of /proc/PID/stat, counted from the one after the program name (proc_pid_stat(5)).
const (
	StatState      = 0
	StatParent     = 1
	StatGroup      = 2
	StatForeground = 5 // the foreground process group of its terminal; -1 for none
	StatFlags      = 6 // PF_ of linux/sched.h
	StatStart      = 19
	StatExit       = 49 // the wait status of a zombie
)

// Stat returns a field of /proc/PID/stat, or "". process is a pid or "self".
func Stat(process string, field int) string {
	f := StatFields(process)
	if len(f) <= field {
		return ""
	}
	return f[field]
}

// StatFields returns the fields of /proc/PID/stat, beginning with StatState.
func StatFields(process string) []string {
	b, _ := Proc("/proc/"+process+"/stat", statMax)
	return strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:])) // the program name may contain ')'
}

// Status returns the contents of /proc/PID/status, or "".
func Status(process string) string {
	b, _ := Proc("/proc/"+process+"/status", statusMax)
	return string(b)
}

// StatusLine returns a value from a status file; name includes the colon.
func StatusLine(status, name string) string {
	for line := range strings.Lines(status) {
		if v, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// Parent returns the pid of a process's parent, or 0.
func Parent(pid int) int {
	n, _ := strconv.Atoi(Stat(strconv.Itoa(pid), StatParent))
	return n
}

// Children returns the pids of a process's children; none if the kernel was built without
// CONFIG_PROC_CHILDREN.
func Children(process string) (pids []int) {
	_ = Each("/proc/"+process+"/task", func(name []byte, _ byte) bool {
		b, _ := Proc("/proc/"+process+"/task/"+string(name)+"/children", 1<<20)
		for _, f := range strings.Fields(string(b)) {
			if pid, err := strconv.Atoi(f); err == nil {
				pids = append(pids, pid)
			}
		}
		return true
	})
	return pids
}

// Descriptor returns a number from the fdinfo of one of this process's descriptors (proc(5)):
// "Pid:" of a pidfd, which is -1 once the process was waited for, or "mnt_id:" of any. ok is
// false if there is no such line.
func Descriptor(fd int, name string) (n int, ok bool) {
	b, _ := Proc("/proc/self/fdinfo/"+strconv.Itoa(fd), statMax)
	n, err := strconv.Atoi(StatusLine(string(b), name))
	return n, err == nil
}
