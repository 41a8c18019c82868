package launch

import (
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
)

// givenUp tells whether the terminal is somebody's outside of the sandbox: who reads
// or writes behind that one stops, and the supervisor with the rest of its group. A
// command can give the foreground to a group of its own, and have the supervisor
// stopped by another process that it left behind: it would go on without one.
func givenUp() bool {
	fg := read.Stat("self", read.StatForeground)
	depth := nested("self")
	fd, err := unix.Open("/proc", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if fg == "" || fg == "-1" || depth == 0 || err != nil { // there is none, or it cannot be told
		return true
	}
	defer unix.Close(fd)
	found := false
	var processes read.Dir
	_ = processes.Each(fd, func(name []byte, _ byte) bool {
		found = name[0] >= '1' && name[0] <= '9' && read.Stat(string(name), read.StatGroup) == fg && nested(string(name)) == depth
		return !found
	})
	return found
}

// nested is in how many pid namespaces a process has a number; 0 where there is no
// such process.
func nested(process string) int {
	return len(strings.Fields(read.StatusLine(read.Status(process), "NSpid:")))
}
