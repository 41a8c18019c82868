package read

import (
	"strconv"
	"strings"
)

// The most that is read of a process's files of a line or a few.
const (
	statMax   = 1 << 12
	statusMax = 1 << 13
)

// Fields of /proc/PID/stat, counted from the one behind the name (proc_pid_stat(5)).
const (
	StatState      = 0
	StatParent     = 1
	StatGroup      = 2
	StatForeground = 5 // the foreground group of its terminal; -1 for none
	StatFlags      = 6 // PF_ of linux/sched.h
)

// Stat is a field of a process's stat file; "" where there is none. process is a pid or
// self.
func Stat(process string, field int) string {
	b, _ := Proc("/proc/"+process+"/stat", statMax)
	stat := string(b)
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:]) // the name may hold anything
	if len(f) <= field {
		return ""
	}
	return f[field]
}

// Status is what a process's status file holds; "" where there is none.
func Status(process string) string {
	b, _ := Proc("/proc/"+process+"/status", statusMax)
	return string(b)
}

// StatusLine is a value of a status file; name ends with a colon.
func StatusLine(status, name string) string {
	for line := range strings.Lines(status) {
		if v, ok := strings.CutPrefix(line, name); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// Parent is the parent of a process; 0 where there is none.
func Parent(pid int) int {
	n, _ := strconv.Atoi(Stat(strconv.Itoa(pid), StatParent))
	return n
}

// Children are the pids of the children of a process, as far as the kernel tells
// (CONFIG_PROC_CHILDREN).
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

// Descriptor is a line of what the kernel tells of one of this process's descriptors
// (fdinfo, proc(5)): "Pid:" of a pidfd, -1 where the process was waited for, "mnt_id:" of
// any. ok is false where there is none.
func Descriptor(fd int, name string) (n int, ok bool) {
	b, _ := Proc("/proc/self/fdinfo/"+strconv.Itoa(fd), statMax)
	n, err := strconv.Atoi(StatusLine(string(b), name))
	return n, err == nil
}

// Mountinfo is the most that is read of mountinfo, in bytes: hosts with many containers
// have some thousands of lines.
const Mountinfo = 16 << 20

// Unescape undoes the kernel's \040 for space, tab, newline and backslash in the paths of
// mountinfo (proc_pid_mountinfo(5)).
func Unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) && isOctal(s[i+1]) && isOctal(s[i+2]) && isOctal(s[i+3]) {
			b = append(b, (s[i+1]-'0')<<6|(s[i+2]-'0')<<3|(s[i+3]-'0'))
			i += 3
			continue
		}
		b = append(b, s[i])
	}
	return string(b)
}

func isOctal(c byte) bool { return c >= '0' && c <= '7' }
