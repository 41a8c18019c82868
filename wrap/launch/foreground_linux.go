package launch

import (
	"strings"

	"sbx/internal/read"
)

// givenUp reports whether the terminal is somebody's outside of the sandbox: who reads
// or writes behind that one stops, and the supervisor with the rest of its group. A
// command can give the foreground to a group of its own, and have the supervisor
// stopped by another process that it left behind: it would go on without one.
func foregroundOutside() bool {
	fg := read.Stat("self", read.StatForeground)
	depth := pidNamespaceDepth("self")
	if fg == "" || fg == "-1" || depth == 0 { // there is none, or it cannot be told
		return true
	}
	found := false
	err := read.Each("/proc", func(name []byte, _ byte) bool {
		found = name[0] >= '1' && name[0] <= '9' && read.Stat(string(name), read.StatGroup) == fg && pidNamespaceDepth(string(name)) == depth
		return !found
	})
	return found || err != nil
}

// nested is in how many pid namespaces a process has a number; 0 where there is no
// such process.
func pidNamespaceDepth(process string) int {
	return len(strings.Fields(read.StatusLine(read.Status(process), "NSpid:")))
}
