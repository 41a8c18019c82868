package launch

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// arguments are this process's, as the kernel has them.
func arguments() []string {
	b, _ := readProc("/proc/self/cmdline", 1<<21)
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}

// children are the pids of this process's children.
func children() []int { return childrenOf("self") }

// childrenOf are the pids of the children of a process, as far as the kernel
// tells (CONFIG_PROC_CHILDREN).
func childrenOf(process string) []int {
	var pids []int
	p := prober{}
	fd, err := unix.Open("/proc/"+process+"/task", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	p.entries(fd, func(name []byte, _ byte) bool {
		b, _ := readProc("/proc/"+process+"/task/"+string(name)+"/children", 1<<20)
		for _, f := range strings.Fields(string(b)) {
			if pid, err := strconv.Atoi(f); err == nil {
				pids = append(pids, pid)
			}
		}
		return true
	})
	return pids
}
