package host

import (
	"os"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/wrap"
)

// container returns the container engine whose marker file exists, if this process runs in a
// container.
func container() wrap.Engine {
	for _, e := range wrap.Engines() {
		if unix.Faccessat(unix.AT_FDCWD, e.Mark, unix.F_OK, 0) == nil && inContainer(namespaceOf, mountinfo()) {
			return e
		}
	}
	return wrap.Engine{}
}

// initialNamespaces are the machine's own namespaces. The kernel never gives their numbers to
// other namespaces (PROC_PID_INIT_INO and others in linux/proc_ns.h).
var initialNamespaces = [...]string{"pid:[4026531836]", "uts:[4026531838]", "ipc:[4026531839]", "cgroup:[4026531835]"}

// inContainer distinguishes a container from a machine that was made from a container image and
// still has its marker file: such a machine has the initial namespaces, and its root is a whole
// file system. If something cannot be read, the answer is that this is a container.
func inContainer(namespace func(kind string) string, mounts []read.Mount) bool {
	for _, own := range initialNamespaces {
		kind := own[:len(own)-len(":[4026531836]")]
		if namespace(kind) != own {
			return true
		}
	}
	whole := false
	for _, m := range mounts {
		if m.Path == "/" {
			whole = m.Type != "overlay" && m.Root == "/"
		}
	}
	return !whole
}

func namespaceOf(kind string) string {
	name, _ := os.Readlink("/proc/self/ns/" + kind)
	return name
}
