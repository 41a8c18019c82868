package spec

import "strings"

// placer makes the values of a document independent of its location: it makes paths absolute and
// marks nodes with the name of their document.
type placer struct {
	doc  *SandboxSpec
	base string // the directory of relative paths
	home string
}

// baseDir returns the directory that a document's own relative paths count from.
func (s *Source) baseDir(in *Inputs) string {
	if s.Dir != "" {
		return s.Dir
	}
	return in.Cwd
}

// field returns the placed node of a field; nil if the document does not set it.
func (p *placer) field(info *FieldInfo, in *Inputs) *Node {
	n := lookUp(p.doc.node(), info.Field)
	if n == nil {
		return nil
	}
	switch info.Field {
	case "working_dir", "sandbox.root":
		return p.path(n, p.doc.Source.baseDir(in))
	case "broker.grant":
		return p.list(n, func(item *Node) *Node {
			at := p.stamp(item)
			at.Text = placedGrant(item.Text, func(path string) string { return p.absolute(path, p.base) })
			return at
		})
	case "syscalls":
		if n.Text != "default" {
			return p.path(n, p.base)
		}
	case "filesystem.mounts":
		return p.list(n, p.mount)
	}
	switch info.Type {
	case typePath:
		return p.path(n, p.base)
	case typePaths:
		return p.list(n, func(item *Node) *Node {
			if strings.HasPrefix(item.Text, "@") || strings.HasPrefix(item.Text, Anywhere) {
				return p.stamp(item)
			}
			return p.path(item, p.base)
		})
	case typePrograms:
		return p.list(n, func(item *Node) *Node {
			if isProgramName(item.Text) {
				return p.stamp(item)
			}
			return p.path(item, p.base)
		})
	}
	return p.stamp(n)
}

// absolute returns path as an absolute path. It returns a path unchanged that cannot be made
// absolute, so that Resolve rejects it.
func (p *placer) absolute(path, base string) string {
	if path == "" || (path == "~" || strings.HasPrefix(path, "~/")) && p.home == "" {
		return path
	}
	r := resolver{in: Inputs{Home: p.home}}
	abs, _ := r.absolute(path, base)
	return abs
}

func (p *placer) path(n *Node, base string) *Node {
	at := p.stamp(n)
	at.Text = p.absolute(n.Text, base)
	return at
}

func (p *placer) list(n *Node, item func(*Node) *Node) *Node {
	at := *n
	at.In = p.name(n)
	at.Items = make([]*Node, len(n.Items))
	for i := range n.Items {
		at.Items[i] = item(n.Items[i])
	}
	return &at
}

func (p *placer) mount(n *Node) *Node {
	at := p.stamp(n)
	for i := range at.Members {
		switch m := &at.Members[i]; m.Key {
		case "source":
			m.Value = p.path(m.Value, p.base)
		case "target":
			m.Value = p.path(m.Value, "/")
		}
	}
	return at
}

// stamp returns a copy of n whose nodes name their document.
func (p *placer) stamp(n *Node) *Node {
	at := *n
	at.In = p.name(n)
	if len(n.Items) > 0 {
		at.Items = make([]*Node, len(n.Items))
		for i := range n.Items {
			at.Items[i] = p.stamp(n.Items[i])
		}
	}
	if len(n.Members) > 0 {
		at.Members = make([]Member, len(n.Members))
		for i, m := range n.Members {
			m.Value = p.stamp(m.Value)
			at.Members[i] = m
		}
	}
	return &at
}

func (p *placer) name(n *Node) string {
	if n.In != "" {
		return n.In
	}
	return p.doc.Source.Name
}

// hideDropped adds those targets of the parent's mounts to the hidden paths that the child's list
// leaves out: the parent never showed the host's content under them.
func (m *merger) hideDropped(hide *Node) *Node {
	list := lookUp(m.child.node(), "filesystem.mounts")
	if list == nil && m.tree.Abs != "" {
		list = lookUp(m.child.node(), "sandbox.root")
	}
	if list == nil {
		return hide
	}
	var dropped []*Node
	for i := range m.parent.Mounts {
		p := &m.parent.Mounts[i]
		kept := false
		for _, c := range m.child.Filesystem.Value.Mounts.Value {
			kept = kept || clean((&placer{home: m.in.Home}).absolute(c.Target, "/")) == p.Target
		}
		if !kept {
			dropped = append(dropped, &Node{Kind: String, Text: p.Target, Pos: list.Pos, In: m.child.Source.Name})
		}
	}
	if len(dropped) == 0 {
		return hide
	}
	return union(hide, &Node{Kind: List, Items: dropped})
}

// restrictedList returns the part of a parent's list that remains under the child's restrict: only
// the subtree of the root.
func (m *merger) restrictedList(parent *Node) *Node {
	root := m.parent.Restricted.Real
	sub, err := resolvePath(m.in.Paths, joinPath(root, "./"+m.child.Restrict.Value))
	if root == "" || err != nil {
		return parent
	}
	left := *parent
	left.Items = nil
	for _, item := range parent.Items {
		p, err := resolvePath(m.in.Paths, item.Text)
		switch {
		case err != nil || !strings.HasPrefix(item.Text, "/"):
		case under(sub.Real, p.Real):
			tree := *item
			tree.Text, item = sub.Real, &tree
		case under(p.Real, root) && !under(p.Real, sub.Real):
			continue
		}
		left.Items = append(left.Items, item)
	}
	return &left
}
