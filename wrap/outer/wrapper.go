package outer

import (
	"slices"
	"strings"
	"unicode/utf8"

	"sbx/spec"
	"sbx/wrap"
)

// Wrapper rewrites an invocation so that it runs in a sandbox. Wrap is pure: the
// same values give the same answer, and nothing is opened, asked or started. What
// of the machine matters is in the Host that the Wrapper was made with.
type Wrapper interface {
	// Name is the wrapper's, one of Wrappers.
	Name() string
	// Wrap gives the invocation that runs inv inside, and the audit of it. The
	// error is spec.Problems.
	Wrap(inv Invocation) (Invocation, Audit, error)
}

// Invocation is a command as a caller would start it.
type Invocation struct {
	Cmd    string
	Args   []string
	Env    []string // NAME=value, in the caller's order
	Cwd    string   // absolute; "" where the caller does not say
	Mounts []DirMount
}

// DirMount is a directory of the host that a command works on. Inside it is in view
// at HostPath, which the command's arguments name, and at GuestPath.
type DirMount struct {
	Label     string // what an audit calls the directory
	HostPath  string // absolute
	GuestPath string // absolute
	Mode      spec.MountMode
}

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

// NewWrapper makes the wrapper of that name. The error is spec.Problems: what
// the tool cannot hold and the documents do not let be less, by field and tool.
func NewWrapper(name string, a Ask) (Wrapper, error) { return newWrapper(name, a) }

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

// tools are the wrappers, in the order of the help.
var tools = [...]*tool{&sbxTool, &bwrapTool, &nsjailTool, &runscTool, &dockerTool, &podmanTool, &noneTool}

// ToolsOf is which of wrap.ToolNames the wrapper of that name starts.
func ToolsOf(wrapper string) []string {
	if wrapper == nameRunsc {
		wrapper = nameDocker
	}
	if !slices.Contains(wrap.ToolNames(), wrapper) {
		return nil
	}
	return []string{wrapper}
}

// ReachesBroker tells whether a command in the container that the tool makes can have a
// broker.
func ReachesBroker(tool string) bool { return tool == nameDocker || tool == namePodman }

// Wrappers are the names of the wrappers.
func Wrappers() []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.name
	}
	return names
}

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

func newWrapper(name string, a Ask) (*wrapper, error) {
	t := toolOf(name)
	if t == nil {
		return nil, Choice(name, a.Image)
	}
	w := &wrapper{tool: t, a: a}
	if err := w.finish(); err != nil {
		return nil, err
	}
	return w, nil
}

// finish makes all of a wrapper that depends on no invocation.
func (w *wrapper) finish() error {
	if w.image {
		if err := Choice(w.name, w.a.Image); err != nil {
			return err
		}
	}
	w.askTool()
	if err := w.build(); err != nil {
		return err
	}
	w.checkMounts(w.a.Mounts)
	w.line = make([]Word, 0, 3*len(w.nodes)+64)
	w.args(w)
	w.openDoors()
	for _, l := range w.supervisedLacks() {
		w.note(l)
	}
	if len(w.problems) > 0 {
		return w.problems
	}
	w.hide = w.aliases()
	for _, l := range w.lacks {
		w.told = append(w.told, Lack{l.Field, w.hide.label(l.Why)})
	}
	if !w.a.Unlisted {
		w.head = w.auditHead()
	}
	return nil
}

// Name implements Wrapper.
func (w *wrapper) Name() string { return w.name }

// askTool asks the tool about each field that the documents set, and what an
// access_mode implies.
func (w *wrapper) askTool() {
	r, asked := w.a.Resolved, w.a.Resolved.Spec.Asked()
	if r.Network != spec.NetworkHost && !slices.Contains(asked, "network.mode") {
		asked = append(asked, "network.mode")
	}
	if len(wrap.OpenedDevices(r)) > 0 && w.name != nameSbx && w.name != bwrapTool.name {
		w.lack("filesystem.write", w.name+" is handed no device of the host")
	}
	if r.Network == spec.NetworkAllow && w.name != nameSbx {
		w.lack("network.allow", "sbx exec alone makes the connections that network.allow names: nothing could be reached")
	}
	if len(r.Listen) > 0 && w.name != nameSbx && w.name != nameNone {
		w.lack("network.listen", "sbx exec alone brings connections into a network that leads nowhere: nothing would be published")
	}
	switch {
	case r.Broker.File.Abs == "" || w.name == nameSbx:
	case w.name == nameRunsc:
		w.lack("broker.file", "gVisor connects to no socket of the host, by which a container reaches its broker")
	case w.a.Broker.Socket == "":
		w.lack("broker.file", "sbx exec alone starts a broker, itself or for a container")
	}
	for _, f := range asked {
		if why := w.cannot(w, f); why != "" {
			w.lack(f, why)
		}
	}
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
	w.problems = append(w.problems, &spec.Problem{Field: f, On: w.a.Resolved.At(f), Do: "have " + w.name + " hold " + string(f), Why: why,
		Help: w.elsewhere(f) + ", or list \"" + string(f) + "\" in best_effort"})
}

func (w *wrapper) note(l Lack) {
	if !slices.Contains(w.lacks, l) {
		w.lacks = append(w.lacks, l)
	}
}

func (w *wrapper) refuse(f spec.Field, do, why, help string) {
	w.problems = append(w.problems, &spec.Problem{Field: f, Do: do, Why: why, Help: help})
}

// build makes the Plan that the tool is to carry out.
func (w *wrapper) build() error {
	r, h := *w.a.Resolved, w.host()
	if w.image { // what lies outside of the spec's own paths is the image's
		r.Visible, r.System, r.FileRules = true, false, true
		if !r.Confined {
			r.Confined = true
			r.Write = append(slices.Clone(r.Write), r.WorkingDir)
		}
	}
	if w.name == nameContainer && !r.Spec.Filesystem.Value.Read.Set {
		r.Visible = false // of a workshop: a refusal, or the documents let it be
	}
	// What the tool does not hold has been told, or refused, by its own name.
	for _, l := range w.lacks {
		r.BestEffort = append(slices.Clone(r.BestEffort), l.Field)
	}
	for _, p := range w.problems {
		r.BestEffort = append(slices.Clone(r.BestEffort), p.Field)
	}
	req := &w.asked.Request
	*req = wrap.Request{NewRoot: w.root, Argv: []string{""}, Program: req.Program, Record: w.a.Record, Sources: w.a.Sources, Counter: wrap.CounterNone, Describe: wrap.DescribeNone}
	if w.name == nameSbx {
		req.Counter, req.Describe = wrap.CounterAuto, wrap.DescribeAll
	}
	if w.name == nameContainer && w.a.Supervised {
		req.Counter, req.Describe, req.AnySocket = wrap.CounterAuto, wrap.DescribeAll, true
	}
	w.asked.Resolved, w.asked.Host = &r, &h
	plan, err := wrap.Build(&r, &h, *req)
	if err != nil {
		if p, ok := err.(spec.Problems); ok {
			return append(w.problems, p...)
		}
		return err
	}
	w.plan = plan
	if w.name == nameOCI && plan.Base == wrap.BaseHost {
		w.refuse("access_mode", "make a bundle", "the spec constrains no files, and a bundle has a root of its own", "set access_mode")
	}
	if w.root && plan.Base == wrap.BasePlace {
		w.refuse("filesystem", "have "+w.name+" show the host's files", "the names in / are not known", "probe the host for it")
	}
	nodes, copied := plan.Nodes()
	w.nodes = slices.DeleteFunc(nodes, func(n wrap.Node) bool { // no line of text can name it: it stays hidden
		return !utf8.ValidString(n.Path) && (n.Soft || n.Kind == wrap.NodeDir || n.Kind == wrap.NodeFile || n.Kind == wrap.NodeLink)
	})
	if w.name != nameSbx { // which carries out the Plan itself
		for _, dir := range copied {
			w.lack(wrap.FieldHome, w.name+": no private copy of "+dir+" can be made")
		}
	}
	return nil
}
