package outer

import (
	"slices"

	"sbx/spec"
)

// DefaultSpec is what an invocation runs under where nobody says anything else:
// workspace-write over its working directory and the directories that it may write,
// without a network. The Lacks are the guest paths that stay the command's own.
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

// MountSpec is a document by which the directories of an invocation narrow a spec
// that others wrote: it has the spec's own mounts and them, and must be no wider.
func MountSpec(inv *Invocation, parent *spec.Resolved) (*spec.SandboxSpec, []Lack) {
	list, left := MountList(inv.Mounts)
	all := make([]spec.Mount, 0, len(parent.Mounts)+len(list))
	for i := range parent.Mounts {
		m := parent.Mounts[i].Mount
		m.Source, m.Target = parent.Mounts[i].Source.Abs, parent.Mounts[i].Target
		// Where the invocation names the same place it is the one to be no wider.
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
