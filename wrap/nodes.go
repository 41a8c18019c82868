package wrap

import (
	"cmp"
	"slices"

	"sbx/internal/view"
	"sbx/spec"
)

// NodeKind is what a Node of a Tree puts at its path.
type NodeKind uint8

// The kinds.
const (
	NodeBind      NodeKind = iota // Source of the host, with all mounts beneath it, as Mode says
	NodeTmpfs                     // an empty tmpfs (Size, Perm)
	NodeDir                       // a directory (Perm)
	NodeFile                      // a file with the content Text
	NodeLink                      // a symbolic link to Text
	NodeEmptyDir                  // an empty, read-only directory over what is there
	NodeEmptyFile                 // an empty file over what is there
	NodeReadOnly                  // what is mounted at Path becomes read-only
	NodeProc
	NodeDevpts
)

// Node is one step of a Tree.
type Node struct {
	Kind   NodeKind
	Path   string // inside, absolute
	Source string // of the host, absolute
	Text   string
	Mode   Mode
	Perm   uint32
	Size   int64
	Soft   bool // what is not there may stay away
	Closed bool // a mount that is made read-only by a later Node, and that Node
	For    spec.Field
}

// Tree is what the sandbox's files are, in the order in which it is put
// together: a walk over Plan.Mounts, without how sbx itself goes about it, and the
// View says what shows at a path. It is what a tool that mounts by its own command
// line is told. Without a Node at "/" the root is empty.
//
// What sbx itself puts there for an sbx inside is left out; what no other tool can
// be told is as well, and named in lacks.
func (p *Plan) Tree() (nodes []Node, lacks []Lack) {
	w := walk{view: &p.View, nodes: make([]Node, 0, len(p.Mounts)+16)}
	if p.Base != BaseEmpty {
		w.nodes = append(w.nodes, Node{Kind: NodeBind, Path: "/", Source: "/", Mode: ModeRW})
	}
	covered := false // the scratch tmpfs, by what is in its place inside
	for i := range p.Mounts {
		m := &p.Mounts[i]
		path, inside := p.inside(m.Target)
		switch {
		case m.Target == "":
			w.held = append(w.held, m)
		case m.Op == OpScratch:
			w.scratch = m.Target
		case !inside || w.scratch != "" && !covered && path != w.scratch && under(path, w.scratch):
			w.staged = append(w.staged, m)
		case m.Op == OpReadOnly: // the whole root
			w.nodes[0].Mode, w.nodes[0].For = ModeRO, m.For
		case m.Op == OpMkdir && path == "/" || under(path, parent(ParentPath)):
		default:
			w.step(m, path)
			covered = covered || path == w.scratch
		}
	}
	return w.nodes, w.lacks
}

// inside is what the Target of a Mount is called inside; ok is false for what lies
// beside an empty root.
func (p *Plan) inside(target string) (path string, ok bool) {
	prefix := p.Staged("")
	if p.Base != BaseEmpty || !under(target, prefix) {
		return target, p.Base != BaseEmpty
	}
	return cmp.Or(target[len(prefix):], "/"), true
}

// walk makes the Nodes of a Plan.
type walk struct {
	view    *view.Tree
	scratch string   // where the scratch tmpfs is
	staged  []*Mount // what is made in it: directories that are bound into the tree later
	held    []*Mount // what fills the slots
	nodes   []Node
	lacks   []Lack
}

// simple has the operations that need only to be told.
var simple = [OpPivot + 1]NodeKind{OpMkdir: NodeDir, OpFile: NodeFile, OpContent: NodeFile, OpSymlink: NodeLink, OpTmpfs: NodeTmpfs, OpProc: NodeProc,
	OpDevpts: NodeDevpts, OpWhiteout: NodeEmptyFile}

// step tells of one operation, at a path inside.
func (w *walk) step(m *Mount, path string) {
	n := Node{Path: path, Perm: m.Perm, Size: m.Size, Soft: m.Soft, For: m.For}
	switch m.Op {
	case OpAttach:
		w.bind(n, m.Source, w.slot(m).Mode)
	case OpPlace:
		switch m.Slot {
		case slotNone:
			n.Kind = NodeEmptyFile
		case SlotEmpty:
			n.Kind = NodeEmptyDir
		default:
			w.private(w.slot(m).Source, n)
			return
		}
		w.nodes = append(w.nodes, n)
	case OpPin:
		w.onto(n, ModeKeep)
	case OpBind:
		switch {
		case m.Source == m.Target:
			w.onto(n, m.Mode)
		case !w.private(m.Source, n):
			w.bind(n, m.Source, m.Mode)
		case m.Mode == ModeRO:
			w.close(Node{Path: path, For: m.For})
		}
	case OpSeal:
		w.close(n)
	case OpOverlay:
		w.overlay(m, path)
	case OpCopy:
		w.lacks = append(w.lacks, Lack{Field: FieldHome, Why: "no private copy of " + path + " can be made"})
	default:
		if n.Kind = simple[m.Op]; n.Kind == NodeBind {
			return // every tool does it by itself
		}
		if n.Kind == NodeLink {
			n.Text = m.Source
		}
		w.nodes = append(w.nodes, n)
	}
}

// slot is what filled the slot of a Mount.
func (w *walk) slot(m *Mount) *Mount {
	return w.held[slices.IndexFunc(w.held, func(h *Mount) bool { return h.Slot == m.Slot })]
}

func (w *walk) bind(n Node, source string, mode Mode) {
	n.Source, n.Mode = source, mode
	w.nodes = append(w.nodes, n)
}

// close makes what is mounted at a path read-only.
func (w *walk) close(n Node) {
	n.Kind = NodeReadOnly
	for i := range slices.Backward(w.nodes) {
		if o := &w.nodes[i]; o.Path == n.Path {
			n.Closed = o.Kind == NodeBind || o.Kind == NodeTmpfs
			o.Closed = n.Closed
			break
		}
	}
	w.nodes = append(w.nodes, n)
}

// private puts a directory of the scratch tmpfs in place, if source is one: an empty
// tmpfs, and what was made in it.
func (w *walk) private(source string, n Node) (is bool) {
	if !under(source, w.scratch) {
		return false
	}
	for _, m := range w.staged {
		switch {
		case m.Target == source:
			w.nodes = append(w.nodes, Node{Kind: NodeTmpfs, Path: n.Path, Perm: m.Perm, For: n.For})
			is = true
		case under(m.Target, source):
			w.step(m, n.Path+m.Target[len(source):])
		}
	}
	return is
}

// overlay masks what the layer of an overlay hides, which no command line tells
// otherwise. What it was to add cannot be.
func (w *walk) overlay(m *Mount, path string) {
	for _, s := range w.staged {
		if !under(s.Target, m.Source) {
			continue
		}
		switch at := path + s.Target[len(m.Source):]; s.Op {
		case OpWhiteout:
			w.nodes = append(w.nodes, Node{Kind: NodeEmptyFile, Path: at, Soft: true, For: s.For})
		case OpFile:
			w.lacks = append(w.lacks, Lack{Field: s.For, Why: "nothing can be mounted at " + at + ", which the host does not have"})
		}
	}
}

// onto binds what the View has at a path onto itself. What is mounted beneath it
// comes along, as it does for sbx; a tool binds it from the host, without that, and
// so has to do it before it mounts anything there. What is only to be a mount
// point, and is one, stays as it is.
func (w *walk) onto(n Node, mode Mode) {
	switch g := w.view.At(n.Path); {
	case g.Access < view.Read:
		return // something lies over it in the end
	case g.Source != "" && !g.Copied:
		n.Source, n.Mode = g.Source, mode
	case mode == ModeRO: // of the sandbox's own
		w.close(n)
		return
	default:
		return
	}
	at := len(w.nodes)
	for i := at - 1; i >= 0; i-- {
		o := &w.nodes[i]
		mounts := o.Kind != NodeDir && o.Kind != NodeFile && o.Kind != NodeLink && o.Kind != NodeReadOnly
		switch {
		case mounts && under(n.Path, o.Path):
			if n.Mode == ModeKeep && n.Path == o.Path {
				return
			}
			i = 0
		case n.Path == o.Path || !under(o.Path, n.Path):
		case n.Mode != ModeRO:
			at = i
		default: // read-only with all in it
			at = i
			if o.Kind == NodeBind {
				o.Mode = ModeRO
			} else if o.Kind == NodeTmpfs {
				w.close(Node{Path: o.Path, For: n.For})
			}
		}
	}
	w.nodes = slices.Insert(w.nodes, at, n)
}
