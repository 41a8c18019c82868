package profile

import (
	"slices"
	"strings"

	"sbx/spec"
	"sbx/spec/agent"
)

// Place is where a profile is to hold.
type Place struct {
	Project string     // absolute; "" for the folder that relative paths count from
	Home    string     // absolute; "" where the caller has none
	Agent   spec.Agent // whose own needs are in view; 0 for none
	Getenv  func(name string) string
	Paths   spec.Paths
}

// SpecsAt are the documents that the profile stands for: its own, whole, with
// the needs of the agent that exist and the files that were found, and those of
// the project, each of which narrows what stands before it (spec.ResolveAll).
func (r *Row) SpecsAt(at Place, found Found) []*spec.SandboxSpec {
	s := r.Document(at.Project)
	fs := s.Filesystem.Value
	if fs.Write.Set {
		fs.Write.Value = slices.DeleteFunc(slices.Clone(fs.Write.Value), func(p string) bool { return found.lacks(p, at.Project) })
	}
	read, write, locked := []string(nil), []string(nil), []spec.Mount(nil)
	if at.Agent != 0 && s.AccessMode.Or(spec.DangerFullAccess) != spec.DangerFullAccess {
		read, write, locked = needs(at)
	}
	write = append(slices.Clip(found.Files), write...)
	if fs.Read.Set {
		fs.Read.Value = append(fs.Read.Value, read...)
	}
	fs.Write = spec.Opt[[]string]{Value: append(fs.Write.Value, write...), Set: fs.Write.Set || len(write) > 0}
	fs.Mounts = spec.Opt[[]spec.Mount]{Value: append(slices.Clip(fs.Mounts.Value), locked...), Set: fs.Mounts.Set || len(locked) > 0}
	s.Filesystem = spec.Opt[spec.Filesystem]{Value: fs, Set: fs.Read.Set || fs.Write.Set || fs.Hide.Set || fs.Mounts.Set}
	all := []*spec.SandboxSpec{s}
	for _, n := range r.Narrowing {
		all = append(all, fitted(n, at.Project, &found, read, write))
	}
	return all
}

// needs are the paths that an agent needs and that exist, by what it does with
// them.
func needs(at Place) (read, write []string, locked []spec.Mount) {
	for _, n := range agent.Needs(at.Agent, at.Home, at.Getenv) {
		if real, err := spec.Real(n.Path, at.Paths); err != nil || strings.ContainsAny(n.Path+real, "*?") {
			continue // it is not there, or a spec cannot say it
		}
		switch n.Mode {
		case agent.Read:
			read = append(read, n.Path)
		case agent.Write:
			write = append(write, n.Path)
		case agent.Locked:
			locked = append(locked, spec.Mount{Source: n.Path, Target: n.Path, Mode: spec.MountRO})
		}
	}
	return read, write, locked
}

// fitted is a document that narrows, as it is at a place: its own lists of files
// mean the project, so that what the agent needs and the files that were found
// stand beside them, and folders that are missing still stand in none.
func fitted(s *spec.SandboxSpec, project string, found *Found, read, write []string) *spec.SandboxSpec {
	files := s.Node().Get("filesystem")
	over := &spec.Node{Kind: spec.Object}
	extend := func(name string, more []string) {
		list := files.Get(name)
		if list == nil {
			return
		}
		longer := *list
		longer.Items = slices.DeleteFunc(slices.Clone(list.Items), func(n *spec.Node) bool { return found.lacks(n.Text, project) })
		longer.Items = append(longer.Items, texts("", more).Value.Items...)
		over.Members = append(over.Members, member(name, &longer))
	}
	extend("read", read)
	extend("write", write)
	if len(over.Members) == 0 {
		return s
	}
	made, err := spec.DecodeNode(s.Source.Name, laid(s.Node(), object(member("filesystem", over))))
	if err != nil { // what was added is absolute and plain
		return s
	}
	made.Source.Dir = s.Source.Dir
	return made
}

// lacks tells whether p is a folder that is missing still.
func (f *Found) lacks(p, project string) bool {
	return slices.ContainsFunc(f.Lacks, func(l string) bool { return p == l || p == project+"/"+l })
}
