package outer

import (
	"slices"
	"strconv"

	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap/defaults"
)

// DefaultSpec returns the spec of an invocation for which nobody gives one: workspace-write over
// its working directory and its writable mounts, without a network. The Lacks are the guest
// paths that are left to the command.
func DefaultSpec(inv *Invocation) (*spec.SandboxSpec, []Lack) {
	list, left := MountList(inv.Mounts)
	var fs spec.Filesystem
	var mounts []spec.Mount
	var write []string
	for _, m := range list {
		if m.Mode == spec.MountRW && m.Source == m.Target {
			write = append(write, m.Source)
			continue
		}
		mounts = append(mounts, m)
	}
	s := &spec.SandboxSpec{AccessMode: spec.Some(spec.WorkspaceWrite), Network: spec.Some(spec.Network{Mode: spec.Some(spec.NetworkNone)})}
	s.Source = spec.Source{Name: "the default spec", Dir: inv.Cwd}
	if inv.Cwd != "" {
		s.WorkingDir = spec.Some(inv.Cwd)
	}
	if len(write) > 0 {
		fs.Write = spec.Some(write)
	}
	if len(mounts) > 0 {
		fs.Mounts = spec.Some(mounts)
	}
	if len(write)+len(mounts) > 0 {
		s.Filesystem = spec.Some(fs)
	}
	return s, left
}

// MountSpec returns a document with the mounts of parent and of an invocation, which narrows
// parent: it must not be wider.
func MountSpec(inv *Invocation, parent *spec.Resolved) (*spec.SandboxSpec, []Lack) {
	list, left := MountList(inv.Mounts)
	all := make([]spec.Mount, 0, len(parent.Mounts)+len(list))
	for i := range parent.Mounts {
		m := parent.Mounts[i].Mount
		m.Source, m.Target = parent.Mounts[i].Source.Abs, parent.Mounts[i].Target
		// Where both name a place the invocation's mount must not be wider.
		if j := slices.IndexFunc(list, func(l spec.Mount) bool { return l.Target == m.Target }); j >= 0 {
			m = list[j]
			list = slices.Delete(list, j, j+1)
		}
		all = append(all, m)
	}
	s := &spec.SandboxSpec{Filesystem: spec.Some(spec.Filesystem{Mounts: spec.Some(append(all, list...))})}
	s.Source = spec.Source{Name: "the invocation's mounts", Dir: inv.Cwd}
	return s, left
}

// MountList returns the directories of an invocation as filesystem.mounts: each at its guest
// path and at its own, where a read-only one could be writable otherwise. A guest path at which
// nothing can be mounted is left to the command, as wasmtime maps --dir itself, and is in left.
func MountList(mounts []DirMount) (list []spec.Mount, left []Lack) {
	add := func(m *DirMount, target string) {
		for _, have := range list {
			if have.Target == target {
				return
			}
		}
		list = append(list, spec.Mount{Label: m.Label, Source: m.HostPath, Target: target, Mode: m.Mode})
	}
	for i := range mounts { // writable ones first: two mounts may share a directory
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

// noPlace returns why nothing can be mounted at a guest path; "" where something can.
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

// systemBeneath reports whether a path of @system lies in path.
func systemBeneath(path string) bool {
	for _, row := range defaults.System() {
		if view.Within(row.Path, path) {
			return true
		}
	}
	return false
}
