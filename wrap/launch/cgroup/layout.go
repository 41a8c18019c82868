package cgroup

import (
	"slices"
	"strings"

	"sbx/internal/read"
	"sbx/internal/view"
	"sbx/wrap"
)

// top is where hosts mount control groups. Mounts elsewhere are ignored: a sandbox without
// file rules keeps the command from writing only to these.
const top = "/sys/fs/cgroup"

// hierarchy is a process's position in one hierarchy of control groups.
type hierarchy struct {
	version int
	mount   string // the hierarchy's mount point
	own     string // the process's own group, under mount; "" if it is not visible
}

// layout is a process's position for each controller. A controller that is not on version 1
// may be on version 2.
type layout struct {
	v1 [wrap.Controllers]hierarchy // version is 0 for a controller that is not on version 1
	v2 hierarchy
}

// parse reads /proc/self/cgroup.
func parse(cgroup string, mounts []read.Mount) layout {
	var l layout
	for line := range strings.Lines(cgroup) {
		_, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		list, path, ok := strings.Cut(rest, ":")
		if !ok {
			continue
		}
		if list == "" {
			l.v2 = find(mounts, "cgroup2", "", path)
			continue
		}
		for name := range strings.SplitSeq(list, ",") {
			for c := range wrap.Controller(wrap.Controllers) {
				if c.String() == name {
					l.v1[c] = find(mounts, "cgroup", name, path)
				}
			}
		}
	}
	return l
}

// find returns the mount of a hierarchy and a group's directory in it.
func find(mounts []read.Mount, fstype, controller, path string) hierarchy {
	p := hierarchy{version: 1}
	if fstype == "cgroup2" {
		p.version = 2
	}
	for _, m := range mounts {
		if m.Type != fstype || !view.Within(m.Path, top) ||
			controller != "" && !slices.Contains(strings.Split(m.Super, ","), controller) {
			continue
		}
		p.mount = m.Path
		if own, ok := beneath(path, m.Root); ok {
			p.own = m.Path + own
			return p
		}
	}
	return p
}

// beneath returns a group's path within a mount that shows the hierarchy from root on; "" is
// root itself. It returns false for a path outside the cgroup namespace ("/.."), which no
// mount shows.
func beneath(path, root string) (string, bool) {
	if path == "/.." || strings.HasPrefix(path, "/../") {
		return "", false
	}
	if !view.Within(path, root) {
		return "", false
	}
	return strings.TrimRight(path[len(strings.TrimRight(root, "/")):], "/"), true
}
