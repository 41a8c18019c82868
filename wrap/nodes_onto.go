package wrap

import "slices"

// onto emits what is bound onto itself. What is mounted beneath it comes along, as
// it does for sbx; a tool binds it from the host, without that, and so has to do it
// before it mounts anything there. What is only to be a mount point, and is one,
// stays as it is.
func (t *treeing) onto(n Node) {
	if t.part(n.Path) != nil {
		t.emit(n)
		return
	}
	n.Path = t.inside(n.Path)
	top := len(t.nodes) - 1
	for top >= 0 && !(isMount(t.nodes[top].Kind) && under(n.Path, t.nodes[top].Path)) {
		top--
	}
	if n.Mode == ModeKeep && top >= 0 && t.nodes[top].Path == n.Path {
		return
	}
	beneath := func(o Node) bool { return o.Path != n.Path && under(o.Path, n.Path) }
	first := slices.IndexFunc(t.nodes[top+1:], beneath)
	if first < 0 {
		t.nodes = append(t.nodes, n)
		return
	}
	first += top + 1
	t.nodes = slices.Insert(t.nodes, first, n)
	if n.Mode != ModeRO {
		return
	}
	for i, end := first+1, len(t.nodes); i < end; i++ { // read-only with all in it
		switch o := &t.nodes[i]; {
		case !beneath(*o):
		case o.Kind == NodeBind:
			o.Mode = ModeRO
		case o.Kind == NodeTmpfs:
			t.nodes = append(t.nodes, Node{Kind: NodeReadOnly, Path: o.Path, For: n.For})
		}
	}
}

// isMount tells whether a node of that kind is a mount.
func isMount(k NodeKind) bool {
	return k == NodeBind || k == NodeTmpfs || k == NodeEmptyDir || k == NodeEmptyFile || k == NodeProc || k == NodeDevpts
}

// overlay masks what the layer of an overlay hides. What it was to add cannot be.
func (t *treeing) overlay(m *Mount) {
	p := t.known(m.Source)
	if p == nil {
		return
	}
	for _, n := range slices.Clone(p.nodes) {
		switch n.Kind {
		case NodeEmptyFile:
			n.Path = m.Target + n.Path
			t.emit(n)
		case NodeFile:
			t.lacks = append(t.lacks, Lack{Field: n.For, Why: "nothing can be mounted at " + t.inside(m.Target) + n.Path + ", which the host does not have"})
		}
	}
}
