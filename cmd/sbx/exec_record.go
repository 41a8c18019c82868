package main

import (
	"slices"
	"strings"

	"sbx/audit"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/host"
)

// makeState makes sbx's own state folder where the record goes elsewhere, and the
// command could make it: what that left there would be believed.
func (x *execution) makeState(state string) {
	writes := func(path string) bool { return wrap.Writes(x.resolved, path) }
	if state == "" || exists(state) || x.has("dry-run") || !slices.ContainsFunc(host.Leads(state), writes) {
		return
	}
	if err := audit.MakeState(state); err != nil {
		x.unmadeWhy = err.Error()
	}
}

// recordFolder is the folder of the record that is named, links resolved; "" where
// that is the current one. No link that an earlier command may have left leads there:
// who left it would choose what sbx writes to. That holds for the record of a spec
// that is refused, too: who left the link may have brought that about.
func (x *execution) recordFolder(named string) (string, error) {
	i := strings.LastIndexByte(named, '/')
	if i < 0 {
		return "", nil
	}
	cwd, err := x.startsIn()
	if err != nil && named[0] != '/' {
		return "", nil // which cannot be opened
	}
	docs := x.record.Documents
	if x.resolved != nil {
		docs = append(docs[:len(docs):len(docs)], x.resolved.Spec)
	}
	p, refusal := x.reach(named[:i+1], cwd, docs)
	switch {
	case refusal == nil && !p.Exists:
		refusal = &spec.Problem{Why: "its folder cannot be opened: " + spec.NoEntry.Error(), Help: "make the folder first, sbx does not"}
	case refusal == nil:
		return p.Real, nil
	case refusal.Help == "":
		refusal.Why = "its folder cannot be opened: " + refusal.Why
	}
	refusal.On, refusal.Do = named, "write the record"
	return "", refusal
}

// reach resolves what a flag names, for a start in cwd under the documents.
func (c *call) reach(path, cwd string, docs []*spec.SandboxSpec) (spec.Path, *spec.Problem) {
	if !strings.HasPrefix(path, "/") {
		path = cwd + "/" + path
	}
	in := c.inputs(cwd)
	in.Job = c.job()
	trees := spec.TreesOf(in, docs...)
	return trees.Follow(path)
}
