package main

import (
	"strings"

	"sbx/spec"
)

// leadsAstray refuses a place for the record that a link of the workspace leads
// to: who left that would choose what sbx writes to outside of it.
func (x *execution) leadsAstray(named string) error {
	i := strings.LastIndexByte(named, '/')
	if i <= 0 {
		return nil
	}
	dir := named[:i+1]
	if dir[0] != '/' {
		cwd, err := getwd()
		if err != nil {
			return nil // its folder cannot be opened then
		}
		dir = cwd + "/" + dir
	}
	for _, r := range x.confined() {
		if link, real := r.Astray(dir, spec.HostPaths{}); link != "" {
			return &spec.Problem{On: named, Do: "write the record",
				Why:  clean(link) + " is a link that leads out of the workspace, to " + clean(real) + ": an earlier command may have left it",
				Help: "name " + clean(real) + " itself, if that is meant"}
		}
	}
	return nil
}

// confined is what says where a command may write. A spec that is refused has a
// record as well, and who left a link may have brought the refusal about, by taking
// away what the spec names: its folders are those that the documents start in, and
// the one that sbx was started in.
func (x *execution) confined() (all []*spec.Resolved) {
	if x.resolved != nil {
		return []*spec.Resolved{x.resolved}
	}
	cwd, err := x.startsIn()
	if err != nil {
		return nil
	}
	in := x.inputs(cwd)
	folder := spec.SandboxSpec{AccessMode: spec.Some(spec.WorkspaceWrite)}
	starts := []spec.SandboxSpec{folder}
	for _, d := range x.record.Documents {
		folder.WorkingDir, folder.Source = d.WorkingDir, d.Source
		starts = append(starts, folder)
	}
	for i := range starts {
		if r, err := spec.Resolve(&starts[i], in); err == nil {
			all = append(all, &r)
		}
	}
	return all
}
