package broker

import (
	"strconv"

	"sbx/internal/broker/caps"
	"sbx/internal/broker/document"
	"sbx/internal/doc"
	"sbx/internal/sys"
	"sbx/spec"
	"sbx/wrap/defaults"
)

// fits refuses a tool whose own spec would let none of its calls start, and a step whose
// call it would not let start: a spec must allow no more than the sandbox can write, and
// at least what the call needs. It applies the order of narrowing documents before the
// start. Arguments that the plan does not have are checked at the call.
func (d *decider) fits(environ []string) *spec.Problem {
	for _, t := range d.doc.Tools {
		if why := d.misfit(t, t.Fixed(), environ); why != "" {
			on := doc.Error{Name: d.doc.Name, Pos: t.At}
			return &spec.Problem{Field: spec.Field("tools." + t.Name + ".spec"), On: on.On(), Do: "run the tool " + t.Name, Why: why, Help: fitHelp}
		}
	}
	for i := 0; d.plan != nil && i < len(d.plan.Steps); i++ {
		s := &d.plan.Steps[i]
		if s.Args == nil {
			continue
		}
		r, no := d.rebuild(&document.Call{Tool: s.Tool, Args: s.Args})
		if no != nil {
			continue // the call reports that
		}
		if why := d.misfit(r.tool, r.needed, environ); why != "" {
			on := doc.Error{Name: d.plan.Name, Pos: s.At}
			return &spec.Problem{Field: spec.Field("steps[" + strconv.Itoa(i) + "]"), On: on.On(), Do: "run the step " + s.ID + " by the tool " + s.Tool, Why: why, Help: fitHelp}
		}
	}
	return nil
}

const fitHelp = "the tool's spec has no more than what the sandbox writes, and at least what the tool needs"

// misfit returns why the documents of a call's own sandbox do not narrow one another; ""
// if they do. Without a spec of the tool's own they always do.
func (w *walls) misfit(t *document.Tool, needed []caps.Cap, environ []string) string {
	if t.Spec == nil {
		return ""
	}
	if t.Files == nil { // nothing is started: sbx-broker check
		named := *t
		named.Files = []string{t.Program()}
		t = &named
	}
	name := t.SpecFile
	if name == "" {
		name = w.start.Broker.Name
	}
	nodes := w.documents(t, needed, true)
	docs := make([]*spec.SandboxSpec, len(nodes))
	for i, n := range nodes {
		as := [...]string{"what the sandbox writes", name, "what the call needs"}[i+3-len(nodes)]
		s, err := spec.DecodeNode(as, n)
		if err != nil {
			return err.Error()
		}
		docs[i] = s
	}
	cwd := w.granted.Tree.At(w.start.Workspace).Source
	if cwd == "" {
		cwd = "/"
	}
	_, err := spec.Chain(docs, spec.Inputs{Home: sys.Variable(environ, "HOME"), Cwd: cwd, Environ: environ, Paths: futureHost{}, Lists: defaults.Lists()})
	if err == nil {
		return ""
	}
	for _, p := range spec.AsProblems(err) {
		if p.Help == spec.NarrowHelp { // what the host lacks is reported by the call
			return p.Error()
		}
	}
	return ""
}

// futureHost is the host with a directory wherever nothing exists, since an earlier step may create
// it.
type futureHost struct{ spec.HostPaths }

// Lstat looks at a path of the host.
func (e futureHost) Lstat(path string) (spec.Info, error) {
	info, err := e.HostPaths.Lstat(path)
	if err == spec.NoEntry {
		return spec.Info{IsDir: true}, nil
	}
	return info, err
}
