package wrap

import (
	"slices"

	"sbx/internal/view"
	"sbx/spec"
)

// NodeKind is the kind of file or mount that a Node puts at its path.
type NodeKind uint8

// These are the kinds of Nodes.
const (
	NodeBind      NodeKind = iota // Source of the host, with every mount under it; Mode says how
	NodeTmpfs                     // an empty tmpfs (Size, Perm)
	NodeDir                       // a directory (Perm)
	NodeFile                      // a file with the content Text
	NodeLink                      // a symbolic link to Text
	NodeEmptyDir                  // an empty, read-only directory over the present content
	NodeEmptyFile                 // an empty file over the present content
	NodeReadOnly                  // the mount at Path becomes read-only
	NodeProc
	NodeDevpts
)

// Node is one step of Plan.Nodes.
type Node struct {
	Kind   NodeKind
	Path   string // inside, absolute
	Source string // of the host, absolute
	Text   string
	Mode   Mode
	Perm   uint32
	Size   int64
	Soft   bool // a source that does not exist is not an error
	Closed bool // it is a mount that a later Node makes read-only, or that later Node
	For    spec.Field
}

// Nodes lists the steps by which another tool puts the sandbox's files together: one that mounts by
// its own command line and cannot lay overlays. They are made from the same items as Plan.Mounts,
// and each path shows what the View says. Without a Node at "/" the root is empty.
//
// Left out are the files that sbx writes for an sbx inside, and private copies of directories,
// which no other tool can make: copied names those directories.
func (p *Plan) Nodes() (nodes []Node, copied []string) {
	w := walk{view: &p.View, nodes: make([]Node, 0, len(p.items)+16)}
	for n := range p.items {
		if i := &p.items[n]; !under(i.path, parent(ParentPath)) {
			w.step(i, p.Base == BaseEmpty)
		}
	}
	switch p.Base {
	case BaseHost:
		w.bind(Node{Path: "/"}, "/", ModeRW)
	case BaseEmpty:
		w.close(Node{Path: "/"})
	}
	return w.nodes, w.copied
}

// walk makes the Nodes of a Plan.
type walk struct {
	view   *view.Tree
	nodes  []Node
	copied []string
}

// simple has the kind of Node for each kind of item that becomes exactly one.
var simple = [...]NodeKind{itemOwned: NodeTmpfs, itemFresh: NodeTmpfs, itemProc: NodeProc, itemDevpts: NodeDevpts, itemMasked: NodeEmptyFile, itemGone: NodeEmptyFile,
	itemMade: NodeFile, itemWritten: NodeFile, itemLinked: NodeLink}

// step adds the Nodes of one item, in an empty root or in the host's.
func (w *walk) step(i *item, empty bool) {
	n := Node{Path: i.path, Perm: i.perm, Soft: i.soft, For: i.field}
	switch i.how {
	case itemRooted:
		switch {
		case empty:
		case i.mode == ModeRO:
			w.bind(n, "/", ModeRO)
		default:
			w.bind(Node{Path: "/"}, "/", ModeRW)
		}
	case itemShown:
		if i.slot == 0 && i.source == i.path && !empty {
			w.onto(n, i.mode)
			return
		}
		w.bind(n, i.source, i.mode)
	case itemPinned:
		w.onto(n, ModeKeep)
	case itemClosed:
		w.onto(n, ModeRO)
	case itemSealed:
		w.close(n)
	case itemAnew:
		w.anew(i.cover)
	case itemCopied:
		w.copied = append(w.copied, i.path)
	case itemSaved, itemRead, itemScratch, itemDetached, itemLaid: // only sbx itself mounts in this way
	default:
		n.Kind = simple[i.how]
		switch {
		case i.how == itemLinked:
			n.Text = i.source
		case i.how == itemFresh:
			n.Size = int64(i.slot)
		case i.how == itemGone:
			n.Soft = true
		case i.kind == Dir && i.how == itemMasked:
			n.Kind = NodeEmptyDir
		case i.kind == Dir && i.how == itemMade:
			n.Kind = NodeDir
		}
		w.nodes = append(w.nodes, n)
	}
}

// anew rebuilds a directory in a tmpfs. Other tools lay no overlays, so a name that an overlay
// would hide is masked.
func (w *walk) anew(c *cover) {
	if c.rebuilt {
		w.nodes = append(w.nodes, Node{Kind: NodeTmpfs, Path: c.dir, Perm: c.perm, For: c.f})
	}
	for k := range c.parts {
		if i := &c.parts[k]; c.rebuilt || i.how == itemGone {
			w.step(i, true)
		}
	}
	if c.rebuilt && c.mode == ModeRO {
		w.close(Node{Path: c.dir, For: c.f})
	}
}

func (w *walk) bind(n Node, source string, mode Mode) {
	n.Source, n.Mode = source, mode
	w.nodes = append(w.nodes, n)
}

// close makes the mount at a path read-only.
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

// onto binds the content of a path onto that path. For sbx the mounts under the path come along.
// Another tool binds the path from the host, without them, and so has to do that before it mounts
// anything there. A path that must only be a mount point, and already is one, stays as it is.
func (w *walk) onto(n Node, mode Mode) {
	switch g := w.view.At(n.Path); {
	case g.Access < view.Read:
		return // a later Node covers it
	case g.Source != "" && !g.Copied:
		n.Source, n.Mode = g.Source, mode
	case mode == ModeRO: // a directory of the sandbox's own
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
		default: // read-only with everything in it
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
