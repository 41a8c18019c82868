package launch

import (
	"strings"

	"golang.org/x/sys/unix"
)

// givenUp tells whether the terminal is somebody's outside of the sandbox: who reads
// or writes behind that one stops, and the supervisor with the rest of its group. A
// command can give the foreground to a group of its own, and have the supervisor
// stopped by another process that it left behind: it would go on without one.
func givenUp() bool {
	own, ok := readProc("/proc/self/stat", 1<<12)
	if !ok {
		return true
	}
	fg := statField(string(own), statForeground)
	depth := nested("/proc/self/status")
	fd, _, err := openDir(unix.AT_FDCWD, "/proc")
	if fg == "-1" || depth == 0 || err != nil { // there is none, or it cannot be told
		return true
	}
	defer unix.Close(fd)
	found := false
	(&prober{}).entries(fd, func(name []byte, _ byte) bool {
		if name[0] >= '1' && name[0] <= '9' {
			dir := "/proc/" + string(name)
			stat, ok := readProc(dir+"/stat", 1<<12)
			found = ok && statField(string(stat), statGroup) == fg && nested(dir+"/status") == depth
		}
		return !found
	})
	return found
}

// The places of a process's group, and of its terminal's foreground group, behind
// its name (proc_pid_stat(5)).
const (
	statGroup      = 2
	statForeground = 5
)

func statField(stat string, n int) string {
	f := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(f) <= n {
		return ""
	}
	return f[n]
}

// nested is in how many pid namespaces a process has a number; 0 where there is no
// such process.
func nested(status string) int {
	b, _ := readProc(status, 1<<13)
	return len(strings.Fields(statusLine(string(b), "NSpid:")))
}
