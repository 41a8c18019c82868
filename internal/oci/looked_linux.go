package oci

import (
	"strconv"

	"golang.org/x/sys/unix"

	"sbx/internal/view"
	"sbx/spec"
)

// looked has descriptors of what sbx-oci has looked at and the runtime then mounts by the engine's path,
// by where that is in the container: its root, and the sources of volumes. Something on the host could
// have exchanged a directory on the way meanwhile. The descriptors keep the inodes in use.
type looked map[string]int

// mounted notes a mount at target, which covers what is under it; fd is -1 if sbx-oci has not looked at it
// by a path that others can change.
func (l looked) mounted(target string, fd int) {
	for path := range l {
		if view.Within(path, target) {
			delete(l, path)
		}
	}
	if fd >= 0 {
		l[target] = fd
	}
}

// in checks that the container of process pid has them, and closes them. root is an O_PATH descriptor of
// the container's root.
func (l looked) in(pid int) (root int, err error) {
	root, err = unix.Open("/proc/"+strconv.Itoa(pid)+"/root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	for path, fd := range l {
		at, e := unix.Openat2(root, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_SYMLINKS})
		if e != nil || fileOf(at) != fileOf(fd) {
			err = &spec.Problem{On: path, Do: "hold the spec in the container", Why: "another file or directory than sbx-oci has looked at is mounted there: its source was exchanged meanwhile"}
		}
		unix.Close(at)
		unix.Close(fd)
	}
	if err != nil {
		unix.Close(root)
		return -1, err
	}
	return root, nil
}
