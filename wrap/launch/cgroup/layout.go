package cgroup

import (
	"slices"
	"strings"

	"sbx/internal/read"
	"sbx/wrap"
)

// top is where hosts mount control groups; others are not looked at, since a
// sandbox without file rules keeps the command from writing these alone.
const top = "/sys/fs/cgroup"

// place is where a process stands in one hierarchy.
type hierarchy struct {
	version int
	mount   string // the hierarchy's mount point
	own     string // the process's own group, under it; "" where it is not in view
}

// layout is where a process stands, by controller. A controller that is on no
// hierarchy of version 1 may be on the one of version 2.
type layout struct {
	v1 [wrap.Controllers]hierarchy // version 0 where it is not on version 1
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

// find looks for the mount of a hierarchy and for a group's directory in it. The
// fields of a line are those of proc(5), "/proc/pid/mountinfo".
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

// beneath is a group's path within a mount that shows the hierarchy from root
// on; "" is root itself. A path that leads out of the cgroup namespace ("/..")
// is in no mount.
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
