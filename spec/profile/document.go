package profile

import (
	"slices"

	"sbx/internal/view"
	"sbx/spec"
)

// SpecsAt returns the documents that the profile stands for in a project: its own, with the files
// that were found, and those of the project, each of which narrows the one before it (spec.Chain).
// project is absolute, or "" for the directory to which relative paths refer. The paths that the
// agent itself needs are in none of them (agent.Needs).
func (r *Row) SpecsAt(project string, found Found) []*spec.SandboxSpec {
	s := r.Document(project)
	fs := s.Filesystem.Value
	if fs.Write.Set || len(found.Files) > 0 {
		fs.Write.Set = true
		fs.Write.Value = slices.DeleteFunc(slices.Clone(fs.Write.Value), func(p string) bool { return found.lacks(p, project) })
		fs.Write.Value = append(fs.Write.Value, found.Files...)
		s.Filesystem = spec.Some(fs)
	}
	all := []*spec.SandboxSpec{s}
	for _, n := range r.Narrowing {
		d := *found.fit(n, project)
		d.Source.Kind = spec.ProfileEntry
		all = append(all, &d)
	}
	return all
}

// fit returns a project's document s with the files that were found added to its list of writable
// paths, and missing directories removed from it. The document itself lists only directories.
func (f *Found) fit(s *spec.SandboxSpec, project string) *spec.SandboxSpec {
	list := s.Node().Get("filesystem").Get("write")
	if list == nil {
		return s
	}
	longer := *list
	longer.Items = slices.DeleteFunc(slices.Clone(list.Items), func(n *spec.Node) bool { return f.lacks(n.Text, project) })
	longer.Items = append(longer.Items, texts("", f.Files).Value.Items...)
	over := object(member("filesystem", object(member("write", &longer))))
	made, err := spec.DecodeJoined(s.Source.Name, laid(s.Node(), over))
	if err != nil { // what was added is absolute and plain
		return s
	}
	made.Source.Dir = s.Source.Dir
	return made
}

// lacks reports whether p is a directory that is still missing.
func (f *Found) lacks(p, project string) bool {
	return slices.ContainsFunc(f.Lacks, func(l string) bool { return p == l || p == view.Join(project, l) })
}
