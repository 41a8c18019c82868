package spec

import (
	"slices"
	"strings"
)

// Narrow resolves child under parent: what both let the command do. What child
// leaves out it inherits; an empty list denies. What it asks for beyond parent
// is an escalation error, a Problem each that names both values and where they
// stand. Paths of child that are relative count from its own working_dir or,
// without one, from parent's; its restrict counts from what parent's leaves of
// the root.
//
// Documents are compared as resolved: what an access_mode implies counts as if
// it were written. The result is never wider than parent (order.go), which is
// asked of the result itself and not only of what child says: a meet of fields
// that are each narrower could still open more.
//
// in must be the Inputs that parent was resolved with.
func Narrow(parent *Resolved, child *SandboxSpec, in Inputs) (Resolved, error) {
	m := merger{parent: parent, child: child, in: &in}
	doc, err := m.merge()
	if err != nil {
		return Resolved{}, err
	}
	r, err := Resolve(doc, in)
	if err != nil {
		return Resolved{}, err
	}
	r.chainFilters(parent)
	if wider := Wider(parent, &r, in); len(wider) > 0 {
		return Resolved{}, wider.one()
	}
	return r, nil
}

// Chain resolves documents that narrow each other from left to right. It gives
// what each of them leaves, the last of which is in force.
func Chain(docs []*SandboxSpec, in Inputs) ([]Resolved, error) {
	all := make([]Resolved, 0, len(docs))
	r, err := Resolve(docs[0], in)
	for i := 0; err == nil; {
		all = append(all, r)
		if i++; i == len(docs) {
			break
		}
		in.Inside = in.Inside && i == 1
		r, err = Narrow(&all[i-1], docs[i], in)
	}
	return all, err
}

// chainFilters keeps the lists of system calls that a parent has in force beside
// the child's: every filter of the chain applies.
func (r *Resolved) chainFilters(parent *Resolved) {
	if !parent.SideDoors {
		return // no list was in force
	}
	for _, list := range append(parent.MoreSyscalls[:len(parent.MoreSyscalls):len(parent.MoreSyscalls)], parent.Syscalls) {
		if list != r.Syscalls && !slices.Contains(r.MoreSyscalls, list) {
			r.MoreSyscalls = append(r.MoreSyscalls, list)
		}
	}
}

// merger makes one document of two.
type merger struct {
	parent   *Resolved
	child    *SandboxSpec
	in       *Inputs
	root     Node
	problems Problems
}

// merge is the document that both make together, its paths absolute and each
// of its values with the place where it was written.
func (m *merger) merge() (*SandboxSpec, error) {
	outer := placer{doc: m.parent.Spec, base: m.parent.WorkingDir.Abs, home: m.in.Home}
	inner := placer{doc: m.child, base: m.parent.WorkingDir.Abs, home: m.in.Home}
	switch {
	case m.child.WorkingDir.Set:
		inner.base = inner.absolute(m.child.WorkingDir.Value, m.child.Source.folder(m.in))
	case m.in.Inside:
		inner.base = m.in.Cwd
	}
	m.root.Kind = Object
	for _, name := range []string{"sandbox", "filesystem", "network", "environment", "commands", "limits"} {
		if m.parent.Spec.node().Get(name) != nil || m.child.node().Get(name) != nil {
			m.root.Members = append(m.root.Members, Member{Key: name, Value: &Node{Kind: Object}})
		}
	}
	for i := range fields {
		f := fields[i].Field
		m.put(f, m.join(f, outer.field(f, m.in), inner.field(f, m.in)))
	}
	if len(m.problems) > 0 {
		return nil, m.problems.one()
	}
	doc, err := DecodeNode(m.child.Source.Name, &m.root)
	if err != nil {
		return nil, err
	}
	doc.Source.Dir = m.child.Source.folder(m.in)
	return doc, nil
}

// put sets a field of the merged document; nil leaves it absent.
func (m *merger) put(f Field, n *Node) {
	if n == nil {
		return
	}
	into, name := &m.root, string(f)
	if outer, inner, nested := strings.Cut(name, "."); nested {
		into, name = m.root.Get(outer), inner
	}
	into.Members = append(into.Members, Member{Key: name, Value: n})
}

// join is what a field of both documents becomes. Most are the child's where
// it sets them: whether it may is asked of the whole result.
func (m *merger) join(f Field, parent, child *Node) *Node {
	switch f {
	case "profile": // filled in before documents are compared
		return nil
	case "tools_denied", "commands.deny", "filesystem.hide":
		if f == "filesystem.hide" {
			parent = m.hideDropped(parent)
		}
		return union(parent, child)
	case "environment.set":
		return m.variables(parent, child)
	case "sandbox.root":
		m.rootTwice(parent, child)
	case "sandbox.readonly", "readonly":
		m.writableAgain(f, child)
	case "restrict":
		return m.restrict(parent, child)
	case "working_dir":
		switch {
		case child != nil:
		case m.child.Restrict.Set:
			return nil // a worker starts in its restricted root
		case m.in.Inside:
			return &Node{Kind: String, Text: m.in.Cwd, In: m.child.Source.Name}
		}
	case "network.mode", "network.allow":
		if child == nil && m.ownNetwork() {
			return nil
		}
	case "environment.pass":
		if child == nil && parent != nil && m.guards() {
			return m.withoutCredentials(parent)
		}
	case "filesystem.read":
		if child == nil && parent != nil && m.guards() && m.in.Lists.Secret != nil {
			return m.withoutSecrets(parent)
		}
	case "filesystem.write":
		if child == nil && parent != nil && m.guards() {
			return &Node{Kind: List, In: m.child.Source.Name} // beside the working directory
		}
	case "require_available":
		if child == nil && m.child.BestEffort.Set {
			return nil // the child's list is the whole of it
		}
	case "best_effort":
		if child == nil && m.child.RequireAvailable.Or(false) {
			return nil
		}
	}
	if child != nil {
		return child
	}
	return parent
}

// guards tells whether the child sets an access_mode that implies the fields
// beside it: what follows from it counts as if the child had written it.
func (m *merger) guards() bool {
	mode := m.child.AccessMode.Value
	return mode == ReadOnly || mode == WorkspaceWrite
}

// ownNetwork tells whether the child's network is not what its parent says.
func (m *merger) ownNetwork() bool {
	n := &m.child.Network.Value
	if n.Mode.Set || n.Allow.Set { // a list means mode allow, in the child as by itself
		return true
	}
	return m.guards() && m.parent.Network == NetworkHost
}

// withoutCredentials is what the parent passes but for the names that an
// access_mode keeps from a command.
func (m *merger) withoutCredentials(parent *Node) *Node {
	left := *parent
	left.Items = nil
	need := knownAgent(m.in.Command)
	for _, name := range m.parent.Passed {
		_, looks := LooksLikeCredential(name)
		if looks && (need == nil || !slices.Contains(need.pass, name)) {
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
		return n.Text != System && strings.HasPrefix(n.Text, "/") && m.in.Lists.Secret(clean(n.Text), m.in.Home)
	})
	return &left
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
	if leavesRoot(child.Text) {
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
	return "the root " + odd(m.parent.Root.Abs)
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
	m.problems = append(m.problems, &Problem{Field: f, On: at, Do: "have " + asked, Why: why, Help: narrowHelp})
}

const narrowHelp = "ask for no more than the parent has, or leave it out"
