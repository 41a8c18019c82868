package spec

// Worker is what a worker's file says to sbx: front matter with name, tools and
// sandbox above a prompt that is not looked at.
type Worker struct {
	Name     string        // "" where the file has none
	Tools    Opt[[]string] // as AgentFile.Tools
	Restrict Opt[string]   // counts from the workshop's root
	Readonly Opt[bool]

	// Old is the sandbox of a file in the old style, which names paths of its
	// own; Restrict and Readonly are then absent. nil for any other file.
	Old *OldSandbox

	Warnings []Warning
	Source   Source // Root is an object of the keys above; Dir is the caller's to set
}

// DecodeWorker reads a worker's file. The error is a *DecodeError.
func DecodeWorker(name string, text []byte) (*Worker, error) {
	f, err := readFront(name, text)
	if err != nil {
		return nil, err
	}
	d := decoder{name: name, other: true}
	w := &Worker{Warnings: f.warns, Source: Source{Name: name, Root: f.root, Kind: WorkerFile}}
	object(&d, f.root, workerFields, w)
	if d.err != nil {
		return nil, d.err
	}
	if w.Old != nil {
		w.Warnings = append(w.Warnings, w.Old.warning())
	}
	return w, nil
}

// Declares lists the restrictions that the worker counts from a workshop, and
// that are an error where there is none.
func (w *Worker) Declares() []Field {
	var all []Field
	if w.Restrict.Set {
		all = append(all, "restrict")
	}
	if w.Readonly.Set {
		all = append(all, "readonly")
	}
	return all
}

// At tells where the file sets one of those, as "a.worker:3:21".
func (w *Worker) At(f Field) string {
	if at := w.Source.place(w.Source.Root.Get("sandbox").Get(string(f))); at != "" {
		return at
	}
	return w.Source.Name
}

// Spec is the worker's file as the spec that says the same, but for Old.
func (w *Worker) Spec() *SandboxSpec {
	s := &SandboxSpec{ToolsAllowed: w.Tools, Restrict: w.Restrict, Readonly: w.Readonly, Source: w.Source}
	root := &Node{Kind: Object, Pos: w.Source.Root.Pos}
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

var workerFields = []member[Worker]{
	{"name", func(d *decoder, n *Node, w *Worker) { w.Name = d.string(n, textRule) }, nil},
	{"tools", func(d *decoder, n *Node, w *Worker) { w.Tools = d.tools(n) }, nil},
	{"sandbox", func(d *decoder, n *Node, w *Worker) {
		if n.Get("paths") != nil {
			w.Old = d.oldSandbox(n)
			return
		}
		d.noPlace(n, "root", "move it to the sandbox section of the workshop file")
		d.noPlace(n, "approval", "sbx asks nobody: leave it out")
		object(d, n, workerSandboxFields, w)
	}, nil},
}

var workerSandboxFields = []member[Worker]{
	{"restrict", func(d *decoder, n *Node, w *Worker) { w.Restrict = Some(d.string(n, restrictRule)) }, nil},
	{"readonly", func(d *decoder, n *Node, w *Worker) { w.Readonly = d.bool(n) }, nil},
}
