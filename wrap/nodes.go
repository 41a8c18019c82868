package wrap

import (
	"slices"
	"strings"

	"sbx/spec"
)

// NodeKind is what a Node of a Tree puts at its path.
type NodeKind uint8

// The kinds.
const (
	NodeBind      NodeKind = iota // Source of the host, with all mounts beneath it, as Mode says
	NodeTmpfs                     // an empty tmpfs (Size, Perm)
	NodeDir                       // a folder (Perm)
	NodeFile                      // a file with the content Text
	NodeLink                      // a symbolic link to Text
	NodeEmptyDir                  // an empty, read-only folder over what is there
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
	For    spec.Field
}

// Tree is what the sandbox's files are, in the order in which it is put
// together: the same as Plan.Mounts, without how sbx itself goes about it. It is
// what a tool that mounts by its own command line is told. Without a Node at "/"
// the root is empty.
//
// What sbx itself puts there for an sbx inside is left out; what no other tool can
// be told is as well, and named in lacks.
func (p *Plan) Tree() (nodes []Node, lacks []Lack) {
	t := treeing{slots: map[int]slot{}, scratch: "\x00", nodes: make([]Node, 0, len(p.Mounts)+16)}
	if p.Base == BaseEmpty {
		t.prefix = p.Staged("")
	} else {
		t.nodes = append(t.nodes, Node{Kind: NodeBind, Path: "/", Source: "/", Mode: ModeRW})
	}
	for i := range p.Mounts {
		t.rest = p.Mounts[i+1:]
		t.step(&p.Mounts[i])
	}
	t.nodes = slices.DeleteFunc(t.nodes, func(n Node) bool { return n.Path == "/" && n.Kind == NodeDir || under(n.Path, parent(ParentPath)) })
	return t.nodes, t.lacks
}

// treeing interprets the operations of a Plan.
type treeing struct {
	prefix  string // where an empty root is put together
	scratch string // the tmpfs of parts, while it can be seen
	parts   []part
	slots   map[int]slot
	nodes   []Node
	lacks   []Lack
	rest    []Mount // what follows
}

// part is a folder of the scratch tmpfs: a private folder to come.
type part struct {
	name  string // its path
	perm  uint32
	nodes []Node // what it was given, by their paths beneath it
}

// slot is what a slot of the Plan holds.
type slot struct {
	source string
	mode   Mode
}

// inside is a path of the tree that is put together as it is called inside.
func (t *treeing) inside(path string) string {
	if t.prefix != "" && under(path, t.prefix) {
		if path = path[len(t.prefix):]; path == "" {
			path = "/"
		}
	}
	return path
}

// part is the part that path is, or lies in.
func (t *treeing) part(path string) *part {
	if t.prefix != "" && under(path, t.prefix) || !under(path, t.scratch) {
		return nil
	}
	for i := range t.parts {
		if under(path, t.parts[i].name) {
			return &t.parts[i]
		}
	}
	return nil
}

// emit appends a node, in the part that its path lies in or in the tree.
func (t *treeing) emit(n Node) {
	if p := t.part(n.Path); p != nil {
		n.Path = n.Path[len(p.name):]
		p.nodes = append(p.nodes, n)
		return
	}
	n.Path = t.inside(n.Path)
	t.nodes = append(t.nodes, n)
}

// host is the path of the host that shows at a path inside, as far as the tree
// is put together; "" where something of the sandbox's own does.
func (t *treeing) host(inside string) string {
	for i := len(t.nodes) - 1; i >= 0; i-- {
		n := &t.nodes[i]
		if !under(inside, n.Path) {
			continue
		}
		switch n.Kind {
		case NodeBind:
			return strings.TrimSuffix(n.Source, "/") + strings.TrimPrefix(inside, strings.TrimSuffix(n.Path, "/"))
		case NodeTmpfs, NodeProc, NodeDevpts, NodeEmptyDir, NodeEmptyFile, NodeFile:
			return ""
		}
	}
	return ""
}

// step carries one operation out on the tree.
func (t *treeing) step(m *Mount) {
	switch m.Op {
	case OpScratch:
		t.scratch = m.Target
	case OpMkdir:
		t.mkdir(m)
	case OpFile, OpContent:
		t.emit(Node{Kind: NodeFile, Path: m.Target, Text: m.Source, Perm: m.Perm, For: m.For})
	case OpSymlink:
		t.emit(Node{Kind: NodeLink, Path: m.Target, Text: m.Source, For: m.For})
	case OpClone, OpOpen:
		source := m.Source
		if at := t.inside(source); at != source { // of the tree that is put together
			source = t.host(at)
		}
		t.slots[m.Slot] = slot{source, m.Mode}
	case OpAttach:
		s := t.slots[m.Slot]
		t.emit(Node{Kind: NodeBind, Path: m.Target, Source: s.source, Mode: s.mode, Soft: m.Soft, For: m.For})
	case OpBind:
		t.bind(m)
	case OpPin:
		if source := t.host(t.inside(m.Target)); source != "" {
			t.onto(Node{Kind: NodeBind, Path: m.Target, Source: source, Mode: ModeKeep, Soft: m.Soft, For: m.For})
		}
	case OpReadOnly:
		t.readOnly(m)
	case OpSeal:
		t.emit(Node{Kind: NodeReadOnly, Path: m.Target, For: m.For})
	case OpTmpfs:
		t.emit(Node{Kind: NodeTmpfs, Path: m.Target, Perm: m.Perm, Size: m.Size, For: m.For})
	case OpProc:
		t.covered(m.Target)
		t.emit(Node{Kind: NodeProc, Path: m.Target, For: m.For})
	case OpDevpts:
		t.emit(Node{Kind: NodeDevpts, Path: m.Target, For: m.For})
	case OpPlace:
		t.place(m)
	case OpWhiteout, OpOverlay, OpRead, OpCopy, OpUncover:
		t.other(m)
	case OpPrivate, OpPivot: // every tool does
	}
}

// mkdir makes a part of the scratch tmpfs, or a folder.
func (t *treeing) mkdir(m *Mount) {
	if under(m.Target, t.scratch) && parent(m.Target) == t.scratch && t.inside(m.Target) == m.Target {
		n := 0 // what it is given, mostly
		for n < len(t.rest) && under(t.rest[n].Target, m.Target) {
			n++
		}
		t.parts = append(t.parts, part{name: m.Target, perm: m.Perm, nodes: make([]Node, 0, n)})
		return
	}
	t.emit(Node{Kind: NodeDir, Path: m.Target, Perm: m.Perm, For: m.For})
}

// bind binds a part, a path of the host, or one of the tree onto itself.
func (t *treeing) bind(m *Mount) {
	if p := t.part(m.Source); p != nil && p.name == m.Source {
		t.private(p, m.Target, m.For)
		if m.Mode == ModeRO {
			t.emit(Node{Kind: NodeReadOnly, Path: m.Target, For: m.For})
		}
		return
	}
	source := m.Source
	if at := t.inside(source); t.prefix == "" || at != source {
		if source = t.host(at); source == "" { // of the sandbox's own
			if m.Mode == ModeRO {
				t.emit(Node{Kind: NodeReadOnly, Path: m.Target, Soft: m.Soft, For: m.For})
			}
			return
		}
		if at == t.inside(m.Target) {
			t.onto(Node{Kind: NodeBind, Path: m.Target, Source: source, Mode: m.Mode, Soft: m.Soft, For: m.For})
			return
		}
	}
	t.emit(Node{Kind: NodeBind, Path: m.Target, Source: source, Mode: m.Mode, Soft: m.Soft, For: m.For})
}

// private puts a part in place: an empty tmpfs, and what it was given.
func (t *treeing) private(p *part, target string, f spec.Field) {
	given, perm := p.nodes, p.perm
	t.covered(target)
	t.emit(Node{Kind: NodeTmpfs, Path: target, Perm: perm, For: f})
	for _, n := range given {
		n.Path = target + n.Path
		t.emit(n)
	}
}

// covered notes that the scratch tmpfs cannot be seen any more.
func (t *treeing) covered(target string) {
	if target == t.scratch && t.prefix == "" {
		t.scratch = "\x00"
	}
}

// readOnly makes what the root is read-only at one stroke.
func (t *treeing) readOnly(m *Mount) {
	if t.inside(m.Target) == "/" && len(t.nodes) > 0 && t.nodes[0].Path == "/" {
		t.nodes[0].Mode = ModeRO
		t.nodes[0].For = m.For
		return
	}
	t.emit(Node{Kind: NodeReadOnly, Path: m.Target, For: m.For})
}

// place lays a mask, a part or a folder of the host over something.
func (t *treeing) place(m *Mount) {
	s := t.slots[m.Slot]
	switch p := t.known(s.source); {
	case m.Slot == slotNone:
		t.emit(Node{Kind: NodeEmptyFile, Path: m.Target, Soft: m.Soft, For: m.For})
	case m.Slot == SlotEmpty:
		t.emit(Node{Kind: NodeEmptyDir, Path: m.Target, Soft: m.Soft, For: m.For})
	case p != nil:
		t.private(p, m.Target, m.For)
	default:
		t.emit(Node{Kind: NodeBind, Path: m.Target, Source: s.source, Mode: m.Mode, Soft: m.Soft, For: m.For})
	}
}

// known is the part of that name, be the scratch tmpfs covered by now.
func (t *treeing) known(name string) *part {
	for i := range t.parts {
		if t.parts[i].name == name {
			return &t.parts[i]
		}
	}
	return nil
}

// other is what no command line tells: an overlay's whiteouts become masks where
// they stand, and a copy of a file is missing.
func (t *treeing) other(m *Mount) {
	switch m.Op {
	case OpWhiteout:
		t.emit(Node{Kind: NodeEmptyFile, Path: m.Target, Soft: true, For: m.For})
	case OpOverlay:
		t.overlay(m)
	case OpCopy:
		t.lacks = append(t.lacks, Lack{Field: FieldHome, Why: "no private copy of " + t.inside(m.Target) + " can be made"})
	}
}
