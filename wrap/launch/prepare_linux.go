package launch

import (
	"strings"

	"sbx/internal/read"
)

// arguments are this process's, as the kernel has them.
func arguments() []string {
	b, _ := read.Proc("/proc/self/cmdline", 1<<21)
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}
