package spec

import (
	"slices"
	"strings"
)

// guards tells whether the child sets an access_mode that implies the fields
// beside it: what follows from it counts as if the child had written it.
func (m *merger) guards() bool {
	return m.child.AccessMode.Value.Guards()
}

// placed makes the child's values independent of where it lies.
func (m *merger) placed() placer {
	p := placer{doc: m.child, base: orElse(m.startsIn(), m.parent.WorkingDir.Abs), home: m.in.Home}
	switch {
	case m.tree.Abs != "" && !m.child.WorkingDir.Set:
		p.base = m.tree.Abs
	case m.child.WorkingDir.Set:
		p.base = p.absolute(m.child.WorkingDir.Value, m.child.Source.folder(m.in))
	}
	return p
}

// startsIn is the directory in which the command starts inside another sandbox,
// where the child does not say; "" outside of one.
func (m *merger) startsIn() string {
	if m.in.Inside {
		return m.in.Cwd
	}
	return m.parent.start
}

// brought is what a workshop that the child brings leaves of its root: the child
// starts there, sees it and may write it. It is zero where the child brings none.
func (m *merger) brought() Path {
	r := resolver{spec: m.child, in: *m.in}
	r.workshop()
	return r.out.Restricted
}

// inheritedFiles is a list of files of the parent's that the child leaves out.
func (m *merger) inheritedFiles(f Field, parent *Node) *Node {
	none := &Node{Kind: List, In: m.child.Source.Name}
	switch {
	case m.tree.Abs != "" && f == "filesystem.write" && !m.guards():
		return m.writesTree(none, parent)
	case m.tree.Abs != "": // a workshop shows its tree and no more
		return none
	case m.child.Restrict.Set && f != "filesystem.mounts" && !m.guards():
		return m.restrictedList(parent)
	case !m.guards():
	case f == "filesystem.write": // beside the working directory
		return none
	case f == "filesystem.mounts":
		return readOnlyMounts(parent)
	case m.in.Lists.Secret != nil:
		return m.withoutSecrets(parent)
	}
	return parent
}

// writesTree keeps a workshop's tree writable where a list of its parent's has it,
// whose access_mode alone would not.
func (m *merger) writesTree(none, parent *Node) *Node {
	for _, item := range parent.Items {
		p, err := resolvePath(m.in.Paths, item.Text)
		if err != nil || !strings.HasPrefix(item.Text, "/") || !under(m.tree.Real, p.Real) {
			continue
		}
		tree := *item
		tree.Text = m.tree.Real
		none.Items = []*Node{&tree}
		break
	}
	return none
}

// closesWorkspace tells whether the child lists what may be written and says
// nothing of the workspace, or the workshop's tree, that its parent writes: by itself
// it would write only what it lists. What holds the workspace leaves it open, and so
// does a protected name, which is opened in a workspace that is written.
func (m *merger) closesWorkspace() bool {
	ofMode := m.parent.AccessMode == WorkspaceWrite
	if !ofMode && m.parent.Root.Abs == "" || m.parent.Job != nil || m.tree.Abs != "" || !m.child.Filesystem.Value.Write.Set {
		return false
	}
	inner, dir := m.placed(), m.parent.WorkingDir.Real
	if !ofMode {
		dir = m.parent.Restricted.Real
	} else if p, err := resolvePath(m.in.Paths, inner.base); err == nil && m.child.WorkingDir.Set {
		dir = p.Real
	}
	return !slices.ContainsFunc(m.child.Filesystem.Value.Write.Value, func(path string) bool {
		if strings.HasPrefix(path, "**/") {
			return true
		}
		p, err := resolvePath(m.in.Paths, inner.absolute(path, inner.base))
		return err == nil && (under(dir, p.Real) || m.protects(p.Real))
	})
}

// readOnlyByList is the access_mode that follows from the child's list of what may be
// written, where that closes the workspace.
func (m *merger) readOnlyByList() *Node {
	return &Node{Kind: String, Text: ReadOnly.String(), Pos: lookUp(m.child.node(), "filesystem.write").Pos, In: m.child.Source.Name}
}

// protects tells whether a path is, or lies beneath, a protected name of what
// the parent writes.
func (m *merger) protects(real string) bool {
	protected := m.in.Lists.Protected
	return protected != nil && slices.ContainsFunc(m.parent.Write, func(w Path) bool {
		rel := strings.TrimPrefix(strings.TrimPrefix(real, w.Real), "/")
		return under(real, w.Real) && rel != "" && protected(rel)
	})
}

// ownNetwork tells whether the child's network is not what its parent says.
func (m *merger) ownNetwork() bool {
	n := &m.child.Network.Value
	if n.Mode.Set || n.Allow.Set { // a list means mode allow, in the child as by itself
		return true
	}
	return m.guards() && m.parent.Network == NetworkHost
}

// withoutCredentials is what the parent passes but for the variables that an
// access_mode keeps from a command.
func (m *merger) withoutCredentials(parent *Node) *Node {
	left := *parent
	left.Items = nil
	look := m.parent.LookCredential()
	for _, name := range m.parent.Passed {
		if slices.Contains(look, name) && !m.in.Agent.passesOwn(name) {
			continue
		}
		left.Items = append(left.Items, &Node{Kind: String, Text: name, Pos: parent.Pos, In: parent.In})
	}
	return &left
}

// withoutSecrets is what the parent has in view but for the secrets that it
// opens: an access_mode hides them.
func (m *merger) withoutSecrets(parent *Node) *Node {
	left := *parent
	left.Items = slices.DeleteFunc(slices.Clone(parent.Items), func(n *Node) bool {
		if !strings.HasPrefix(n.Text, "/") { // @system
			return false
		}
		p, err := resolvePath(m.in.Paths, n.Text)
		return m.in.Lists.Secret(clean(n.Text), m.in.Home) || err == nil && m.in.Lists.Secret(p.Real, m.in.Home)
	})
	return &left
}

// readOnlyMounts are the parent's mounts under an access_mode of the child's, which
// lets what they show be written as little as what filesystem.write names.
func readOnlyMounts(parent *Node) *Node {
	all := *parent
	all.Items = nil
	for _, item := range parent.Items {
		mount := *item
		mount.Members = slices.Clone(item.Members)
		for i, member := range mount.Members {
			if member.Key == "mode" && member.Value.Text == MountRW.String() {
				mode := *member.Value
				mode.Text = MountRO.String()
				mount.Members[i].Value = &mode
			}
		}
		all.Items = append(all.Items, &mount)
	}
	return &all
}

// union is both lists, the parent's first, each item once.
func union(parent, child *Node) *Node {
	switch {
	case parent == nil:
		return child
	case child == nil:
		return parent
	}
	all := *parent
	all.Items = append([]*Node(nil), parent.Items...)
	for _, c := range child.Items {
		known := false
		for _, p := range all.Items {
			known = known || p.Text == c.Text
		}
		if !known {
			all.Items = append(all.Items, c)
		}
	}
	return &all
}

// variables is what both set; the child's value counts where both do. Nothing
// that the parent sets is left out: the caller's own value would take its place.
func (m *merger) variables(parent, child *Node) *Node {
	if parent == nil || child == nil {
		return union(parent, child)
	}
	all := *child
	all.Members = append([]Member(nil), child.Members...)
	for _, v := range parent.Members {
		if child.Get(v.Key) == nil {
			all.Members = append(all.Members, v)
		}
	}
	return &all
}

// restrict goes from the caller's restricted root on: /src and then /lib is
// ROOT/src/lib.
func (m *merger) restrict(parent, child *Node) *Node {
	if child == nil {
		return parent
	}
	if LeavesRoot(child.Text) {
		m.escalation("restrict", m.child.Source.place(child), "restrict "+odd(child.Text), "it leaves "+m.rootOf())
		return nil
	}
	if parent == nil {
		return child
	}
	joined := *child
	joined.Text = strings.TrimRight(parent.Text, "/") + child.Text
	return &joined
}

// rootOf is the tree that the child's restrict counts from, in words.
func (m *merger) rootOf() string {
	if at := m.parent.At("restrict"); at != "" {
		return "the subtree " + odd(m.parent.Restricted.Abs) + " that its caller has (" + at + ")"
	}
	return "the root " + rooted(&m.parent.Root)
}

// rooted is a root or a subtree of one, with the place where it is set.
func rooted(p *Path) string {
	if p.At == "" {
		return odd(p.Abs)
	}
	return odd(p.Abs) + " (" + p.At + ")"
}

// rootTwice refuses a second root: it is the parent's alone.
func (m *merger) rootTwice(parent, child *Node) {
	if parent != nil && child != nil {
		m.escalation("sandbox.root", m.child.Source.place(child), "sandbox.root "+odd(child.Text),
			"the root is "+odd(m.parent.Root.Abs)+" ("+m.parent.At("sandbox.root")+"), and only the outermost document sets it")
	}
}

// writableAgain refuses to take back what makes the parent read-only.
func (m *merger) writableAgain(f Field, child *Node) {
	if child == nil || child.Text != "false" || m.child.AccessMode.Value == ReadOnly {
		return
	}
	if why := m.parent.whyReadOnly(); why != "" {
		m.escalation(f, m.child.Source.place(child), string(f)+": false", "it is read-only by "+why)
	}
}

// whyReadOnly is what makes everything read-only, with its place; "" where
// nothing does.
func (r *Resolved) whyReadOnly() string {
	s := r.Spec
	switch {
	case s.Sandbox.Value.Readonly.Or(false):
		return "sandbox.readonly: true (" + r.At("sandbox.readonly") + ")"
	case s.Readonly.Or(false):
		return "readonly: true (" + r.At("readonly") + ")"
	case r.AccessMode == ReadOnly:
		return "access_mode: read-only (" + r.At("access_mode") + ")"
	}
	return ""
}

func (m *merger) escalation(f Field, at, asked, why string) {
	m.problems = append(m.problems, &Problem{Field: f, On: at, Do: "have " + asked, Why: why, Help: NarrowHelp})
}

// NarrowHelp is what helps against an escalation: a document that asks for more than the
// one before it.
const NarrowHelp = "ask for no more than the parent has, or leave it out"
