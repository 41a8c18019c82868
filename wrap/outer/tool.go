package outer

import (
	"slices"
	"strings"

	"sbx/spec"
	"sbx/wrap"
)

// Lack is a restriction that a tool does not enforce: a field of the spec that the documents
// list in best_effort, or one that no field names.
type Lack struct {
	Field spec.Field
	Why   string
}

// Ask is what a Wrapper is made from.
type Ask struct {
	Resolved *spec.Resolved
	Host     *wrap.Host
	// Image is the image whose files the command sees, for the tools that run one.
	Image string
	// Mounts are the directories that invocations will name.
	Mounts []DirMount
	// Supervised is true if an sbx outside enforces what it can for any tool: the timeout, the
	// limits of a process and, if it can make control groups, those of the whole process tree.
	Supervised bool
	// Container is the name of a container; Terminal is true if it gets a terminal.
	Container string
	Terminal  bool
	// Unlisted leaves the arguments out of audits, for a caller that shows none.
	Unlisted bool
	// StatusFD is the descriptor on which bwrap reports that it started the command; 0 for none.
	StatusFD int
	// FilterFD is the descriptor from which bwrap reads BackendPlan.Filter; 0 for none, -1 for one
	// that the line does not name.
	FilterFD int
	Record   string // see wrap.Request
	Sources  []string
	Broker   wrap.BrokerAsk // a container's; zero for none
}

// Asked is the input of wrap.Build for a tool.
type Asked struct {
	Resolved *spec.Resolved
	Host     *wrap.Host
	Request  wrap.Request
}

// tool is a program that makes a sandbox as its command line says.
type tool struct {
	name  string
	image bool // the command sees an image's files, not the host's
	root  bool // the Plan must have its own root: Request.NewRoot
	args  func(*wrapper)
	below int    // how many of the tool's processes wait for the command
	needs string // the oldest version that accepts each argument
	// cannot returns why the tool cannot enforce a field; "" if it can.
	cannot func(w *wrapper, f spec.Field) string
	// instead returns what would enforce a field that the tool does not; nil where another
	// wrapper would.
	instead func(f spec.Field) string
	// without lists the restrictions of every sandbox of sbx that the tool lacks.
	without []Lack
}

// The names of the tools that code for all tools treats apart.
const (
	nameSbx    = "sbx"
	nameRunsc  = "runsc"
	nameDocker = "docker"
	namePodman = "podman"
	nameNone   = "none"
	nameOCI    = "oci"
	// nameContainer is not a wrapper's name: see Contain.
	nameContainer = "sbx-oci"
)

// wrapper is a tool with everything that can be made before the invocation is known.
type wrapper struct {
	*tool
	a          Ask
	asked      Asked
	plan       *wrap.Plan
	nodes      []wrap.Node
	line       []Word // the tool's arguments
	lacks      []Lack
	auditLacks []Lack // lacks, with labels for paths
	labels     labels // by which an audit names paths of the host
	head       auditArgs

	problems spec.Problems
}

// lack notes a field that the tool cannot enforce: as a Lack where the documents list it in
// best_effort, else as a problem.
func (w *wrapper) lack(f spec.Field, why string) {
	if name, _, item := strings.Cut(string(f), "["); item {
		f = spec.Field(name)
	}
	if w.a.Resolved.AllowsLess(f) {
		w.note(Lack{f, why})
		return
	}
	instead := "use another wrapper (sbx holds every field)"
	if w.instead != nil {
		instead = w.instead(f)
	}
	w.problems = append(w.problems, &spec.Problem{Field: f, On: w.a.Resolved.At(f), Do: "have " + w.name + " hold " + string(f), Why: why,
		Help: instead + ", or list \"" + string(f) + "\" in best_effort"})
}

func (w *wrapper) note(l Lack) {
	if !slices.Contains(w.lacks, l) {
		w.lacks = append(w.lacks, l)
	}
}

func (w *wrapper) refuse(f spec.Field, do, why, help string) {
	w.problems = append(w.problems, &spec.Problem{Field: f, Do: do, Why: why, Help: help})
}

// found returns the tool's program on this host; nil for none.
func (w *wrapper) found() *wrap.Tool {
	name := w.name
	if name == nameRunsc {
		name = nameDocker
	}
	return w.a.Host.Tool(name)
}

// program returns the path of the tool's program, or its name where the host lacks it.
func (w *wrapper) program() string {
	if t := w.found(); t != nil {
		return t.Path
	}
	if w.name == nameRunsc {
		return nameDocker
	}
	return w.name
}
