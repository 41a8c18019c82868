package spec

import (
	"slices"
	"strings"
)

// guards reports whether the child sets an access_mode that implies other fields. Implied values
// count as if the child had written them.
func (m *merger) guards() bool {
	return m.child.AccessMode.Value.Guards()
}

// placed returns the placer of the child's values.
func (m *merger) placed() placer {
	p := placer{doc: m.child, base: orElse(m.startsIn(), m.parent.WorkingDir.Abs), home: m.in.Home}
	switch {
	case m.tree.Abs != "" && !m.child.WorkingDir.Set:
		p.base = m.tree.Abs
	case m.child.WorkingDir.Set:
		p.base = p.absolute(m.child.WorkingDir.Value, m.child.Source.baseDir(m.in))
	}
	return p
}

// startsIn returns the directory in which the command starts inside another sandbox if the child
// does not name one; "" if there is no outer sandbox.
func (m *merger) startsIn() string {
	if m.in.Inside {
		return m.in.Cwd
	}
	return m.parent.start
}

// brought returns the tree of a workshop that the child itself has: the command starts in this
// tree, sees it and may write it. The result is zero if the child has no workshop.
func (m *merger) brought() Path {
	r := resolver{spec: m.child, in: *m.in}
	r.workshop()
	return r.out.Restricted
}

// inheritedFiles returns the part of a parent's list of files that the child inherits if it does
// not set that list.
func (m *merger) inheritedFiles(f Field, parent *Node) *Node {
	none := &Node{Kind: List, In: m.child.Source.Name}
	switch {
	case m.tree.Abs != "" && f == "filesystem.write" && !m.guards():
		return m.writesTree(none, parent)
	case m.tree.Abs != "": // a workshop shows only its tree
		return none
	case m.child.Restrict.Set && f != "filesystem.mounts" && !m.guards():
		return m.restrictedList(parent)
	case !m.guards():
	case f == "filesystem.write": // in addition to the working directory
		return none
	case f == "filesystem.mounts":
		return readOnlyMounts(parent)
	case m.in.Lists.Secret != nil:
		return m.withoutSecrets(parent)
	}
	return parent
}

// writesTree keeps the child's tree writable if a list of the parent contains the tree; the
// parent's access_mode alone would not keep it writable.
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

// closesWorkspace reports whether the child's list of writable paths leaves out the workspace, or
// the workshop's tree, that the parent can write. Without a parent, such a child would write only
// the listed paths. A listed directory that contains the workspace keeps it writable, and so does a
// protected name, which only makes sense in a writable workspace.
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

// readOnlyByList returns the access_mode that follows if the child's list of writable paths closes
// the workspace.
func (m *merger) readOnlyByList() *Node {
	return &Node{Kind: String, Text: ReadOnly.String(), Pos: lookUp(m.child.node(), "filesystem.write").Pos, In: m.child.Source.Name}
}

// protects reports whether a path is a protected name of a directory that the parent can write, or
// lies under one.
func (m *merger) protects(real string) bool {
	protected := m.in.Lists.Protected
	return protected != nil && slices.ContainsFunc(m.parent.Write, func(w Path) bool {
		rel := strings.TrimPrefix(strings.TrimPrefix(real, w.Real), "/")
		return under(real, w.Real) && rel != "" && protected(rel)
	})
}

// ownNetwork reports whether the child decides its network itself.
func (m *merger) ownNetwork() bool {
	n := &m.child.Network.Value
	if n.Mode.Set || n.Allow.Set { // a list implies mode allow, in a child as in any document
		return true
	}
	return m.guards() && m.parent.Network == NetworkHost
}

// withoutCredentials returns the variables that the parent passes, except those that an access_mode
// withholds from a command.
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

// withoutSecrets returns the readable paths of the parent, except secrets that it makes visible: an
// access_mode hides these.
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

// readOnlyMounts returns the parent's mounts as read-only: an access_mode of the child does not
// make them writable, just as it does not make the paths of filesystem.write writable.
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

// union returns the items of both lists, the parent's first, without duplicates.
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

// variables returns the variables that either document sets, with the child's value if both set a
// name. If the parent's were left out, the command would get the caller's value.
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

// restrict returns the child's subtree within the parent's: /src and then /lib is ROOT/src/lib.
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

// rootOf describes the tree of which the child's restrict is a part.
func (m *merger) rootOf() string {
	if at := m.parent.At("restrict"); at != "" {
		return "the subtree " + odd(m.parent.Restricted.Abs) + " that its caller has (" + at + ")"
	}
	return "the root " + rooted(&m.parent.Root)
}

// rooted returns a root, or a subtree of one, with the place where it is set.
func rooted(p *Path) string {
	if p.At == "" {
		return odd(p.Abs)
	}
	return odd(p.Abs) + " (" + p.At + ")"
}

// rootTwice rejects a second root.
func (m *merger) rootTwice(parent, child *Node) {
	if parent != nil && child != nil {
		m.escalation("sandbox.root", m.child.Source.place(child), "sandbox.root "+odd(child.Text),
			"the root is "+odd(m.parent.Root.Abs)+" ("+m.parent.At("sandbox.root")+"), and only the outermost document sets it")
	}
}

// writableAgain rejects a readonly: false under a parent that is read-only.
func (m *merger) writableAgain(f Field, child *Node) {
	if child == nil || child.Text != "false" || m.child.AccessMode.Value == ReadOnly {
		return
	}
	if why := m.parent.whyReadOnly(); why != "" {
		m.escalation(f, m.child.Source.place(child), string(f)+": false", "it is read-only by "+why)
	}
}

// whyReadOnly returns the setting that makes everything read-only, with its place; "" if everything
// is not read-only.
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

// NarrowHelp is the Help of escalation errors.
const NarrowHelp = "ask for no more than the parent has, or leave it out"
