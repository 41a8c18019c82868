package outer

import (
	"strconv"
	"strings"

	"sbx/spec"
)

// Invocation is a command as a caller would start it.
type Invocation struct {
	Cmd    string
	Args   []string
	Env    []string // NAME=value, in the caller's order
	Cwd    string   // absolute; "" where the caller does not say
	Mounts []DirMount
}

// DirMount is a directory of the host that a command works on. Inside, the command sees it at
// HostPath, which its arguments name, and at GuestPath.
type DirMount struct {
	Label     string // what an audit calls the directory
	HostPath  string // absolute
	GuestPath string // absolute
	Mode      spec.MountMode
}

// The most mounts that an invocation may have, since each is compared with the others, and the
// most problems that Check returns.
const (
	maxMounts   = 256
	maxProblems = 100
)

// Check returns what is malformed in an invocation, whatever the sandbox; nil for nothing.
func (inv *Invocation) Check() spec.Problems { return inv.check(true) }

// check is Check; command is false if the invocation has only directories.
func (inv *Invocation) check(command bool) (ps spec.Problems) {
	refuse := func(field, on, do, why, help string) {
		if len(ps) == maxProblems {
			return
		}
		ps = append(ps, &spec.Problem{Field: spec.Field(field), On: on, Do: do, Why: why, Help: help})
	}
	text := func(field, s string) {
		if strings.IndexByte(s, 0) >= 0 {
			refuse(field, "", "pass it on", "it has a NUL byte, which ends an argument", "")
		}
	}
	if command && inv.Cmd == "" {
		refuse("cmd", "", "wrap a command", "it is empty", "name a program")
	}
	text("cmd", inv.Cmd)
	for i, a := range inv.Args {
		text("args["+strconv.Itoa(i)+"]", a)
	}
	for i, v := range inv.Env {
		name, _, ok := strings.Cut(v, "=")
		if text("env["+strconv.Itoa(i)+"]", v); !ok || name == "" {
			refuse("env["+strconv.Itoa(i)+"]", "", "pass it on", "it is not NAME=value", "")
		}
	}
	if why := unclean(inv.Cwd); inv.Cwd != "" && why != "" {
		refuse("cwd", inv.Cwd, "start in it", why, "give an absolute path without . and ..")
	}
	if n := len(inv.Mounts); n > maxMounts {
		refuse("mounts", "", "mount them", "they are "+strconv.Itoa(n)+", more than "+strconv.Itoa(maxMounts), "mount a directory that holds them")
		return ps
	}
	for i := range inv.Mounts {
		m, at := &inv.Mounts[i], "mounts["+strconv.Itoa(i)+"]"
		if m.Mode != spec.MountRO && m.Mode != spec.MountRW {
			refuse(at+".mode", "", "mount it", "its mode is neither ro nor rw", "")
		}
		text(at+".label", m.Label)
		for _, p := range []struct{ field, path string }{{at + ".hostPath", m.HostPath}, {at + ".guestPath", m.GuestPath}} {
			if why := unclean(p.path); why != "" {
				refuse(p.field, p.path, "mount it", why, "give an absolute path without . and ..")
			}
		}
		for j := range i {
			if inv.Mounts[j].GuestPath == m.GuestPath {
				refuse(at+".guestPath", m.GuestPath, "mount it", "mounts["+strconv.Itoa(j)+"] has the same", "give each mount a path of its own")
			}
		}
	}
	return ps
}

// unclean returns why a path is not absolute and clean; "" if it is.
func unclean(path string) string {
	switch {
	case path == "":
		return "it is empty"
	case path[0] != '/':
		return "it is relative"
	case strings.IndexByte(path, 0) >= 0:
		return "it has a NUL byte"
	case path == "/":
		return ""
	}
	for part := range strings.SplitSeq(path[1:], "/") {
		switch part {
		case "..":
			return `it has ".."`
		case "", ".":
			return "it is not clean"
		}
	}
	return ""
}
