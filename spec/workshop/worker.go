package workshop

import (
	"sbx/internal/doc"
	"sbx/internal/doc/decode"
	"sbx/spec"
)

// Worker is the part of a worker's file that concerns sbx: name, tools and sandbox in its front matter.
// The prompt below is not read.
type Worker struct {
	Name     string             // "" where the file has none
	Tools    spec.Opt[[]string] // as AgentFile.Tools
	Restrict spec.Opt[string]   // counts from the workshop's root
	Readonly spec.Opt[bool]

	// Old is the sandbox of a file in the old style, which names its own paths and has neither
	// Restrict nor Readonly. nil for any other file.
	Old *OldSandbox

	Warnings []spec.Warning
	Source   spec.Source // Root has the keys above; the caller sets Dir
}

// DecodeWorker reads a worker's file. The error is a *spec.DecodeError.
func DecodeWorker(name string, text []byte) (*Worker, error) {
	f, err := readFront(name, text)
	if err != nil {
		return nil, err
	}
	d := decode.Decoder{Name: name}
	w := &Worker{Warnings: f.warns, Source: spec.Source{Name: name, Root: f.root, Kind: spec.WorkerFile}}
	decode.Object(&d, f.root, workerFields, w)
	if d.Err != nil {
		return nil, d.Err
	}
	if w.Old != nil {
		w.Warnings = append(w.Warnings, w.Old.warning())
	}
	return w, nil
}

// Declares lists the fields of the worker that are relative to a workshop, and so are an error without
// one.
func (w *Worker) Declares() []spec.Field {
	var all []spec.Field
	if w.Restrict.Set {
		all = append(all, "restrict")
	}
	if w.Readonly.Set {
		all = append(all, "readonly")
	}
	return all
}

// At returns the place where the file sets one of these fields, as "a.worker:3:21".
func (w *Worker) At(f spec.Field) string {
	if n := w.Source.Root.Get("sandbox").Get(string(f)); n != nil {
		return placeOf(w.Source.Name, n.Pos)
	}
	return w.Source.Name
}

// Spec returns the spec that means the same as the worker's file, without Old.
func (w *Worker) Spec() *spec.SandboxSpec {
	s := &spec.SandboxSpec{ToolsAllowed: w.Tools, Restrict: w.Restrict, Readonly: w.Readonly, Source: w.Source}
	root := &doc.Node{Kind: doc.Object, Pos: w.Source.Root.Pos}
	if w.Tools.Set {
		root.Members = append(root.Members, toolsMember(w.Source.Root, w.Tools.Value))
	}
	if w.Old == nil {
		if n := w.Source.Root.Get("sandbox"); n != nil {
			root.Members = append(root.Members, n.Members...)
		}
	}
	s.Source.Root = root
	return s
}

var workerFields = []decode.Field[Worker]{
	{Name: "name", Read: func(d *decode.Decoder, n *doc.Node, w *Worker) { w.Name = d.String(n, spec.TextRule) }},
	{Name: "tools", Read: func(d *decode.Decoder, n *doc.Node, w *Worker) { w.Tools = spec.Some(readTools(d, n)) }},
	{Name: "sandbox", Read: func(d *decode.Decoder, n *doc.Node, w *Worker) {
		if n.Get("paths") != nil {
			w.Old = readOldSandbox(d, n)
			return
		}
		noPlace(d, n, "root", "move it to the sandbox section of the workshop file")
		noPlace(d, n, "approval", "sbx asks nobody: leave it out")
		decode.Object(d, n, workerSandboxFields, w)
	}},
}

var workerSandboxFields = []decode.Field[Worker]{
	{Name: "restrict", Read: func(d *decode.Decoder, n *doc.Node, w *Worker) {
		w.Restrict = spec.Some(d.String(n, spec.RestrictRule))
	}},
	{Name: "readonly", Read: func(d *decode.Decoder, n *doc.Node, w *Worker) { w.Readonly = spec.Some(d.Bool(n)) }},
}
