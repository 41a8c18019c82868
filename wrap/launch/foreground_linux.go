package launch

import (
	"strings"

	"sbx/internal/read"
)

// foregroundOutside reports whether the terminal's foreground group belongs to a process
// outside the sandbox. A process that uses the terminal from the background is then rightly
// stopped,
// and the supervisor with it. Otherwise a command could give the foreground to a group of
// its own and have another of its processes stop the supervisor, and would go on unsupervised.
func foregroundOutside() bool {
	fg := read.Stat("self", read.StatForeground)
	depth := pidNamespaceDepth("self")
	if fg == "" || fg == "-1" || depth == 0 { // there is no foreground group, or it is unknown
		return true
	}
	found := false
	err := read.Each("/proc", func(name []byte, _ byte) bool {
		found = name[0] >= '1' && name[0] <= '9' && read.Stat(string(name), read.StatGroup) == fg && pidNamespaceDepth(string(name)) == depth
		return !found
	})
	return found || err != nil
}

// pidNamespaceDepth returns in how many pid namespaces a process has a pid; 0 if there is no such
// process.
func pidNamespaceDepth(process string) int {
	return len(strings.Fields(read.StatusLine(read.Status(process), "NSpid:")))
}
