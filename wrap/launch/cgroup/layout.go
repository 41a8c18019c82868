package cgroup

import (
	"slices"
	"strings"

	"sbx/internal/read"
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

// parse reads /proc/self/cgroup and /proc/self/mountinfo.
func parse(cgroup, mountinfo string) layout {
	var l layout
	for line := range strings.Lines(cgroup) {
		_, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		list, path, ok := strings.Cut(rest, ":")
		if !ok {
			continue
		}
		if list == "" {
			l.v2 = find(mountinfo, "cgroup2", "", path)
			continue
		}
		for name := range strings.SplitSeq(list, ",") {
			for c := range wrap.Controller(wrap.Controllers) {
				if c.String() == name {
					l.v1[c] = find(mountinfo, "cgroup", name, path)
				}
			}
		}
	}
	return l
}

// find returns the mount of a hierarchy and a group's directory in it. The fields of a line
// are those of proc(5), "/proc/pid/mountinfo".
func find(mountinfo, fstype, controller, path string) hierarchy {
	p := hierarchy{version: 1}
	if fstype == "cgroup2" {
		p.version = 2
	}
	for line := range strings.Lines(mountinfo) {
		before, after, ok := strings.Cut(line, " - ")
		f, g := strings.Fields(before), strings.Fields(after)
		if !ok || len(f) < 6 || len(g) < 3 || g[0] != fstype {
			continue
		}
		if controller != "" && !slices.Contains(strings.Split(g[2], ","), controller) {
			continue
		}
		at := read.Unescape(f[4])
		if at != top && !strings.HasPrefix(at, top+"/") {
			continue
		}
		p.mount = at
		if own, ok := beneath(path, read.Unescape(f[3])); ok {
			p.own = at + own
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
	if root != "/" {
		rest, ok := strings.CutPrefix(path, root)
		if !ok || rest != "" && rest[0] != '/' {
			return "", false
		}
		path = rest
	}
	return strings.TrimRight(path, "/"), true
}
