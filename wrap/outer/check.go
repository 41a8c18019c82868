package outer

import (
	"slices"
	"strings"

	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/defaults"
	"strconv"
)

// The most mounts that an invocation may have, each of which is held against the
// others, and the most problems that are told of one.
const (
	maxMounts   = 256
	maxProblems = 100
)

// Check refuses what is no invocation, whatever the sandbox. It gives nil for
// one that is.
func (inv *Invocation) Check() spec.Problems { return inv.check(true) }

// check is Check, for a command or the directories alone.
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

// unclean says why a path is not the one way to name what it names; "" where it
// is absolute and clean.
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

// MountList is what the directories of an invocation are as filesystem.mounts: each
// at its guest path, and a read-only one at its own path too, which may be
// writable otherwise. A guest path at which nothing can be mounted is the
// command's own affair, as wasmtime's --dir makes it, and is in left.
func MountList(mounts []DirMount) (list []spec.Mount, left []Lack) {
	add := func(m *DirMount, target string) {
		for _, have := range list {
			if have.Target == target {
				return
			}
		}
		list = append(list, spec.Mount{Label: m.Label, Source: m.HostPath, Target: target, Mode: m.Mode})
	}
	for i := range mounts { // a writable one first: two may be of one directory
		if m := &mounts[i]; m.Mode == spec.MountRW {
			add(m, m.HostPath)
		}
	}
	for i := range mounts {
		m := &mounts[i]
		add(m, m.HostPath)
		if why := noPlace(m.GuestPath, mounts); why != "" {
			left = append(left, Lack{spec.Field("mounts[" + strconv.Itoa(i) + "].guestPath"), why + ": the directory is in view at its own path alone"})
			continue
		}
		add(m, m.GuestPath)
	}
	return list, left
}

// noPlace says why nothing is mounted at a guest path.
func noPlace(guest string, mounts []DirMount) string {
	if guest == "/" {
		return "/ is the sandbox's root"
	}
	for _, dir := range []string{"/proc", "/sys", "/dev"} {
		if view.Within(guest, dir) {
			return guest + " is the kernel's own"
		}
	}
	lists := defaults.Lists()
	if lists.System(guest) || systemBeneath(guest) {
		return guest + " is what the system's own programs need"
	}
	for i := range mounts {
		if h := mounts[i].HostPath; h != guest && view.Within(h, guest) {
			return guest + " holds the directory of a mount"
		}
	}
	return ""
}

// systemBeneath tells whether a part of @system lies beneath path.
func systemBeneath(path string) bool {
	for _, row := range defaults.System() {
		if view.Within(row.Path, path) {
			return true
		}
	}
	return false
}

// host is the host as a tool has it: the mechanisms of the top rung, none of
// those that only sbx has.
func (w *wrapper) host() wrap.Host {
	h := *w.a.Host
	if w.name == nameSbx {
		return h
	}
	h.Rungs = [3]wrap.Answer{{State: wrap.Yes}, {State: wrap.Yes}, {State: wrap.Yes}}
	h.Overlay = wrap.Answer{State: wrap.No, Why: w.name + " lays no overlays"}
	h.Layer, h.Listing = h.Overlay, w.listings()
	if w.name == nameContainer { // whose files nobody replaces: each is masked
		h.Listing = slices.DeleteFunc(slices.Clone(h.Listing), func(l wrap.Listing) bool { return l.Dir != "/" })
	}
	h.Parent, h.FreeParent, h.Outer = nil, nil, false
	h.Seccomp = wrap.Answer{State: wrap.Yes}
	if w.name != nameContainer || !w.a.Supervised {
		h.Listener = wrap.Answer{State: wrap.No, Why: w.name + " answers no calls"}
	}
	h.Tracer = wrap.Answer{State: wrap.No, Why: w.name + " does not trace"}
	if w.name != nameContainer { // in which sbx-init has it
		h.LandlockABI = max(h.LandlockABI, 1)
	}
	// The tool has the streams and the terminal that it is started on.
	h.Streams, h.Terminal = nil, ""
	if w.image { // which has its own of these
		h.System, h.Keep, h.Devices, h.ProcRO, h.ProcMask = nil, nil, nil, nil, nil
	}
	if !w.a.Supervised || w.image || w.name == nameContainer {
		for i := range h.Groups {
			h.Groups[i] = wrap.GroupHost{Answer: wrap.Answer{State: wrap.Yes}, Version: 2, Swap: true, Sockets: true}
		}
	}
	return h
}
