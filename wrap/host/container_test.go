package host

import (
	"sbx/internal/read"
	"strings"
	"testing"
)

// A marker file counts as left over only on a machine itself: all namespaces are the initial
// ones, and the root is not an image.
func TestContained(t *testing.T) {
	const (
		machine = "22 1 254:0 / / rw - ext4 /dev/vda rw\n23 22 0:21 / /proc rw - proc proc rw\n"
		overlay = "22 1 0:50 / / rw - overlay overlay rw,lowerdir=/a\n"
		vfs     = "22 1 254:0 /var/lib/docker/vfs/dir/x / rw - ext4 /dev/vda rw\n"
	)
	for _, c := range []struct {
		name, other, mounts string
		want                bool
	}{
		{"a machine", "", machine, false},
		{"docker run", "pid:[4026532201]", overlay, true},
		{"docker run with a root that is no overlay", "pid:[4026532201]", machine, true},
		{"--pid host", "uts:[4026532199]", machine, true},
		{"--pid host --uts host", "ipc:[4026532200]", machine, true},
		{"with all but the control groups' of the host", "cgroup:[4026532290]", machine, true},
		{"with all of the host", "", overlay, true},
		{"with all of the host and a directory as root", "", vfs, true},
		{"no /proc", "pid:", "", true},
		{"no mounts to be read", "", "", true},
		{"mounted over", "", overlay + machine, false},
	} {
		namespace := func(kind string) string {
			if strings.HasPrefix(c.other, kind+":") {
				return c.other
			}
			for _, own := range initialNamespaces {
				if strings.HasPrefix(own, kind+":") {
					return own
				}
			}
			return ""
		}
		got := inContainer(namespace, read.Mounts(c.mounts))
		if got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
