package world

import (
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sbx/internal/doc"
	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/defaults"
)

// World is a made-up file system, and the facts about the machine around it. It answers
// spec.Resolve as the kernel would, and makes the Host that Probe would make.
type World struct {
	t     testing.TB
	Nodes map[string]Node // by path
	large map[string]bool // directories that Probe does not list
	Host  wrap.Host
	in    spec.Inputs
	Req   wrap.Request // the Request for Build
	repos []wrap.Repository

	around []string

	others []string // homes of other users

	scripts map[string][]string // scripts, with their interpreters
	linked  []string            // programs with a second name
}

// Node is a file of a World.
type Node struct {
	Kind   wrap.Kind
	target string // the text of a link
}

// New reads lines of "kind path" and of facts. Later lines win.
func New(t testing.TB, texts ...string) *World {
	t.Helper()
	w := &World{t: t, Nodes: map[string]Node{"/": {Kind: wrap.Dir}}, large: map[string]bool{}}
	w.Host = wrap.Host{Kernel: wrap.Version{6, 18}, Release: "6.18.0", Arch: "amd64", UID: 1000, GID: 1000, LandlockABI: 8,
		Seccomp: wrap.Answer{State: wrap.Yes}}
	w.Host.Rungs[wrap.RungRoot] = wrap.Answer{State: wrap.No, Why: "the caller is not root"}
	w.Host.Rungs[wrap.RungBare].State = wrap.Yes
	w.in = spec.Inputs{Home: "/home/u", Cwd: "/home/u/w", Paths: w,
		Environ: []string{"PATH=/usr/bin", "HOME=/home/u", "LANG=C", "API_TOKEN=x", "SSH_AUTH_SOCK=/tmp/agent"}}
	w.Req = wrap.Request{Counter: wrap.CounterAuto, Argv: []string{"make", "test"}, Program: wrap.Program{Path: "/usr/bin/make", Real: "/usr/bin/make", Dir: "/usr/bin"},
		Record: "/home/u/.local/state/sbx/runs/1/effective.json"}
	for _, text := range texts {
		for _, line := range strings.Split(text, "\n") {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				w.Line(line)
			}
		}
	}
	return w
}

// Workstation is the machine of testdata/plans/world.txt, with further facts.
func Workstation(t testing.TB, facts ...string) *World {
	t.Helper()
	file := "testdata/plans/world.txt"
	text, err := os.ReadFile(file)
	for i := 0; err != nil && i < 3; i++ { // a test runs in the directory of its package
		file = "../" + file
		text, err = os.ReadFile(file)
	}
	if err != nil {
		t.Fatal(err)
	}
	return New(t, append([]string{string(text)}, facts...)...)
}

var kinds = map[string]wrap.Kind{"dir": wrap.Dir, "file": wrap.File, "socket": wrap.Socket, "link": wrap.Symlink, "device": wrap.Device}

// Line reads one line.
func (w *World) Line(line string) {
	word, rest, _ := strings.Cut(line, " ")
	first, more, _ := strings.Cut(rest, " ")
	if k, ok := kinds[word]; ok {
		w.Add(first, Node{k, more})
		return
	}
	number := func() int {
		n, err := strconv.Atoi(first)
		if err != nil {
			w.t.Fatalf("%q: %v", line, err)
		}
		return n
	}
	h := &w.Host
	switch word {
	case "large":
		w.large[first] = true
	case "without":
		for p := range w.Nodes {
			if view.Within(p, first) {
				delete(w.Nodes, p)
			}
		}
	case "root":
		h.UID, h.GID, h.SysAdmin = 0, 0, true
		h.UIDs, h.GIDs = []wrap.IDRange{{Count: 1<<32 - 1}}, []wrap.IDRange{{Count: 1<<32 - 1}}
		h.Rungs[wrap.RungRoot] = wrap.Answer{}
		w.in.Home = "/root"
	case "audit":
		h.AuditReader = true
	case "landlock":
		if h.LandlockABI = number(); h.LandlockABI == 0 {
			h.LandlockWhy = "the kernel has no Landlock"
		}
	case "seccomp":
		h.Seccomp = w.answer(first, more)
	case "tracer":
		h.Tracer = w.answer(first, more)
	case "listener":
		h.Listener = w.answer(first, more)
	case "copies":
		h.Copies = w.answer(first, more)
	case "container":
		h.Container = wrap.Engines()[slices.IndexFunc(wrap.Engines(), func(e wrap.Engine) bool { return e.Name == first })]
	case "overlay":
		h.Overlay = w.answer(first, more)
	case "setattr":
		h.SetAttr = w.answer(first, more)
	case "rung":
		state, why, _ := strings.Cut(more, " ")
		for r := range h.Rungs {
			if strings.ReplaceAll(wrap.Rung(r).String(), " ", "-") == first {
				h.Rungs[r] = w.answer(state, why)
				return
			}
		}
		w.t.Fatalf("%q: no such rung", line)
	case "home":
		w.in.Home = first
	case "cwd":
		w.in.Cwd = first
	case "env":
		name, _, _ := strings.Cut(rest, "=")
		w.in.Environ = append(slices.DeleteFunc(slices.Clone(w.in.Environ), func(v string) bool { return strings.HasPrefix(v, name+"=") }), rest)
	case "job":
		w.in.Job = &spec.JobAsk{Input: first, Output: more}
	case "record":
		w.Req.Record = first
	case "program":
		w.Req.Program = wrap.Program{Path: first, Real: first, Dir: path.Dir(first), Interpreters: strings.Fields(more)}
		w.Req.Argv = []string{path.Base(first)}
	case "mounted":
		w.Host.Mounts = append(w.Host.Mounts, wrap.MountPoint{Path: first, Type: more})
	case "removable":
		w.Host.Removable = append(w.Host.Removable, first)
	case "group": // group CONTROLLER VERSION DIR [enable] [leaf] [threaded] [swap], or group CONTROLLER no WHY
		w.group(first, more)
	case "parent": // the description of an outer sandbox, in the form of its file
		n, err := doc.ParseJSON("parent", []byte(rest))
		if err != nil {
			w.t.Fatal(err)
		}
		var ok bool
		if h.Parent, ok = wrap.ParseParent(n); !ok {
			w.t.Fatalf("%q: not understood", line)
		}
	case "kernel":
		h.Kernel = wrap.Version{number(), 0}
	case "layer":
		h.Layer = w.answer(first, more)
	case "drop":
		w.Host.DropEnv = append(w.Host.DropEnv, first)
	default:
		if !w.treeLine(word, first, more) && !w.programLine(word, first, more) {
			w.t.Fatalf("%q is no fact of a host", line)
		}
	}
}

// group notes where a group can be made for a controller.
func (w *World) group(name, rest string) {
	for c := range wrap.Controller(wrap.Controllers) {
		if c.String() != name {
			continue
		}
		g := &w.Host.Groups[c]
		if why, none := strings.CutPrefix(rest, "no "); none {
			g.Answer = wrap.Answer{State: wrap.No, Why: why}
			return
		}
		f := strings.Fields(rest)
		version, err := strconv.Atoi(f[0])
		if err != nil {
			w.t.Fatal(err)
		}
		*g = wrap.GroupHost{Answer: wrap.Answer{State: wrap.Yes}, Version: version, Dir: f[1], Enable: slices.Contains(f, "enable"),
			Leaf: slices.Contains(f, "leaf"), Threaded: slices.Contains(f, "threaded"), Swap: slices.Contains(f, "swap"), Sockets: !slices.Contains(f, "nosocket")}
		return
	}
	w.t.Fatalf("there is no controller %q", name)
}

func (w *World) answer(state, why string) wrap.Answer {
	for _, s := range []wrap.State{wrap.Unknown, wrap.Yes, wrap.No} {
		if s.String() == state {
			return wrap.Answer{State: s, Why: why}
		}
	}
	w.t.Fatalf("%q is no answer", state)
	return wrap.Answer{}
}

// Add puts a node at a path, and directories on the way to it.
func (w *World) Add(p string, n Node) {
	for dir := path.Dir(p); w.Nodes[dir].Kind == wrap.Absent; dir = path.Dir(dir) {
		w.Nodes[dir] = Node{Kind: wrap.Dir}
	}
	w.Nodes[p] = n
}

// Lstat implements spec.Paths.
func (w *World) Lstat(p string) (spec.Info, error) {
	n, ok := w.Nodes[p]
	if !ok {
		return spec.Info{}, spec.NoEntry
	}
	return spec.Info{IsDir: n.Kind == wrap.Dir, IsLink: n.Kind == wrap.Symlink}, nil
}

// Readlink implements spec.Paths.
func (w *World) Readlink(p string) (string, error) { return w.Nodes[p].target, nil }

// Inside makes w the machine that a command in the plan's sandbox finds.
func (w *World) Inside(outer *wrap.Plan) {
	w.t.Helper()
	for _, m := range outer.Mounts {
		if m.Op == wrap.OpContent && m.Target == outer.Staged(wrap.ParentPath) {
			w.Line("parent " + strings.TrimSpace(m.Source))
		}
	}
	all := w.Nodes
	w.Nodes = map[string]Node{"/": {Kind: wrap.Dir}}
	for p, n := range all {
		if g := outer.View.At(p); g.Access != view.Absent && (g.Source == p || n.Kind == wrap.Dir) {
			w.Add(p, n)
		}
	}
	w.in.Inside, w.in.Cwd, w.in.Environ, w.in.Lists = true, outer.Command.Dir, outer.Env, defaults.Lists()
}

// Resolve reads a spec and fills it in. The error may be of either. Inside of another sandbox
// it narrows what that holds, and "" is the document of a caller who gives none.
func (w *World) Resolve(doc string) (*spec.Resolved, error) {
	w.t.Helper()
	there := func(path string) bool { return w.Nodes[path].Kind != wrap.Absent }
	var s *spec.SandboxSpec
	var docs []*spec.SandboxSpec
	var err error
	if doc == "" {
		s = w.Host.Parent.Default("default", false, false, there)
	} else if s, err = spec.Decode("spec.json", []byte(doc)); err != nil {
		return nil, err
	}
	if w.in.Inside {
		held, err := w.Host.Parent.Document(there)
		if err != nil {
			return nil, err
		}
		docs = append(docs, held)
	}
	s.Source.Dir = w.in.Cwd
	w.in.UID = w.Host.UID
	chain, err := spec.Chain(append(docs, s), w.in)
	if err != nil {
		return nil, err
	}
	return &chain[len(chain)-1], nil
}

// Build makes a Plan from a document.
func (w *World) Build(doc string) (*spec.Resolved, *wrap.Plan, error) {
	w.t.Helper()
	r, err := w.Resolve(doc)
	if err != nil {
		return r, nil, err
	}
	plan, err := wrap.Build(r, w.Probed(r), w.Req)
	return r, plan, err
}
