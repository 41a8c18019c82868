package host

import (
	"os"

	"golang.org/x/sys/unix"

	"sbx/internal/read"
	"sbx/wrap"
)

// container is the engine that has left its mark here, if this is its container.
func container() wrap.Engine {
	for _, e := range wrap.Engines() {
		if unix.Faccessat(unix.AT_FDCWD, e.Mark, unix.F_OK, 0) == nil && inContainer(namespaceOf, mountinfo) {
			return e
		}
	}
	return wrap.Engine{}
}

// initial are the machine's own namespaces, whose numbers the kernel never gives to others
// (PROC_PID_INIT_INO and its like of linux/proc_ns.h).
var initialNamespaces = [...]string{"pid:[4026531836]", "uts:[4026531838]", "ipc:[4026531839]", "cgroup:[4026531835]"}

// contained tells a container from a machine that was made of an image, in which the mark
// was left over: there every namespace is the machine's, and the root a whole file system
// of its own. What cannot be read makes no machine of a container.
func inContainer(namespace func(kind string) string, mounts func(each func(line []byte))) bool {
	for _, own := range initialNamespaces {
		kind := own[:len(own)-len(":[4026531836]")]
		if namespace(kind) != own {
			return true
		}
	}
	whole := false
	mounts(func(line []byte) {
		if m, on, ok := mountLine(string(line)); ok && m.Path == "/" {
			whole = m.Type != "overlay" && on.root == "/"
		}
	})
	return !whole
}

func namespaceOf(kind string) string {
	name, _ := os.Readlink("/proc/self/ns/" + kind)
	return name
}

func mountinfo(each func(line []byte)) {
	read.Lines("/proc/self/mountinfo", read.Mountinfo, each)
}
