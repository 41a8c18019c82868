package outer

import (
	"slices"
	"strings"

	"sbx/spec"
	"sbx/wrap"
)

// Lack is something that a tool does not hold: a field of the spec that the
// documents let be less, or what is no field.
type Lack struct {
	Field spec.Field
	Why   string
}

// Ask is what a Wrapper is made from.
type Ask struct {
	Resolved *spec.Resolved
	Host     *wrap.Host
	// Image is the image whose files the command sees, for the tools that want one.
	Image string
	// Mounts are the directories that invocations will name.
	Mounts []DirMount
	// Supervised: an sbx outside holds what it can hold for any tool: the time, the
	// limits of a process and, where it can make groups, those of the tree.
	Supervised bool
	// Container is the name of a container, Terminal that it gets a terminal.
	Container string
	Terminal  bool
	// Unlisted: audits list no arguments, for a caller that shows none.
	Unlisted bool
	// StatusFD is where bwrap tells whether the command was started; 0 for nowhere.
	StatusFD int
	// FilterFD is where bwrap is given Backing.Filter; 0 for nowhere, -1 where it will
	// be and the line does not say so.
	FilterFD int
	Record   string // see Request
	Sources  []string
	Broker   wrap.BrokerAsk // of a container that has one; zero for none
}

// Asked is what a Plan for a tool is built from.
type Asked struct {
	Resolved *spec.Resolved
	Host     *wrap.Host
	Request  wrap.Request
}

// tool is a sandbox that is told by its command line what it is to do.
type tool struct {
	name  string
	image bool // it shows an image's files, not the host's
	root  bool // it wants a root of its own: Request.NewRoot
	args  func(*wrapper)
	below int    // how many of its processes wait for the command
	needs string // the least version that knows each of the arguments
	// cannot says why a field cannot be told to the tool; "" where it can.
	cannot func(w *wrapper, f spec.Field) string
	// instead says what would enforce a field that the tool does not; nil for another wrapper.
	instead func(f spec.Field) string
	// without is what it does not do that is no field.
	without []Lack
}

// The names of the tools that the common parts know.
const (
	nameSbx    = "sbx"
	nameRunsc  = "runsc"
	nameDocker = "docker"
	namePodman = "podman"
	nameNone   = "none"
	nameOCI    = "oci"
	// nameContainer is no wrapper: see Contain.
	nameContainer = "sbx-oci"
)

// wrapper is a tool with all that is known before there is an invocation.
type wrapper struct {
	*tool
	a     Ask
	asked Asked
	plan  *wrap.Plan
	nodes []wrap.Node
	line  []Word // the arguments
	lacks []Lack
	told  []Lack // lacks as an audit has them
	hide  labels // how an audit calls paths of the host
	head  auditArgs

	problems spec.Problems
}

// lack is a field that the tool cannot hold: a refusal, or a Lack where the
// documents let it be.
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

// found is the tool's program on this host; nil where it has none.
func (w *wrapper) found() *wrap.Tool {
	name := w.name
	if name == nameRunsc {
		name = nameDocker
	}
	return w.a.Host.Tool(name)
}

// program is the tool's file, or its name where the host does not have it.
func (w *wrapper) program() string {
	if t := w.found(); t != nil {
		return t.Path
	}
	if w.name == nameRunsc {
		return nameDocker
	}
	return w.name
}
