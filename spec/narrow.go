package spec

import (
	"slices"
	"strings"
)

// Narrow resolves child under parent: the result allows only what both allow. child inherits the
// fields that it does not set; an empty list denies. Each request beyond parent is an escalation
// error, a Problem that names both values and their places. Relative paths of child are relative to
// its own working_dir or, without one, to parent's; its restrict is relative to the subtree that
// parent's restrict leaves.
//
// Narrow compares the documents as resolved: values that an access_mode implies count as if
// written. The result is never wider than parent (order.go). Narrow checks this on the result
// itself, not only on child's fields: fields that are each narrower could still allow more in
// combination.
//
// in must be the Inputs that parent was resolved with.
func Narrow(parent *Resolved, child *SandboxSpec, in Inputs) (Resolved, error) {
	in.listed = parent.listed
	m := merger{parent: parent, child: child, in: &in}
	doc, err := m.merge()
	if err != nil {
		return Resolved{}, err
	}
	under := in
	under.WrittenDirs = append(in.WrittenDirs[:len(in.WrittenDirs):len(in.WrittenDirs)], parent.workedIn()...)
	r, err := Resolve(doc, under)
	if err != nil {
		return Resolved{}, err
	}
	r.start = m.start
	r.keepHidden(parent)
	r.chainFilters(parent)
	r.Tops, r.Earlier = parent.tops(), append(r.Earlier, parent.workedIn()...)
	r.listed, r.bounds = in.listed, parent.bounds
	if wider := Wider(parent, &r, in); len(wider) > 0 {
		return Resolved{}, wider.one()
	}
	return r, nil
}

// Chain resolves a list of documents, each of which narrows the one before. It returns the result
// after each document; sbx enforces the last one.
func Chain(docs []*SandboxSpec, in Inputs) ([]Resolved, error) {
	all := make([]Resolved, 0, len(docs))
	in.WrittenDirs = slices.Clone(in.WrittenDirs)
	for _, d := range docs {
		in.WrittenDirs = append(in.WrittenDirs, d.Source.baseDir(&in))
	}
	r, err := Resolve(docs[0], in)
	for i := 0; err == nil; {
		all = append(all, r)
		if docs[i].Source.Kind.bounds() {
			all[i].bounds = append(slices.Clip(r.bounds), bound{&docs[i].Source, &all[i]})
		}
		if i++; i == len(docs) {
			break
		}
		in.Inside = in.Inside && i == 1
		r, err = Narrow(&all[i-1], docs[i], in)
	}
	return all, err
}

// chainFilters adds the parent's syscall lists to the child's: every filter of the chain applies.
func (r *Resolved) chainFilters(parent *Resolved) {
	if !parent.SideDoors {
		return // the parent has no list
	}
	for _, list := range append(parent.MoreSyscalls[:len(parent.MoreSyscalls):len(parent.MoreSyscalls)], parent.Syscalls) {
		if list != r.Syscalls && !slices.Contains(r.MoreSyscalls, list) {
			r.MoreSyscalls = append(r.MoreSyscalls, list)
		}
	}
}

// merger merges two documents.
type merger struct {
	parent   *Resolved
	child    *SandboxSpec
	in       *Inputs
	root     Node
	tree     Path   // the part of the root that remains visible if the child brings a workshop
	start    string // see Resolved
	problems Problems
}

// merge returns the merged document, with absolute paths and the original place of each value.
func (m *merger) merge() (*SandboxSpec, error) {
	outer := placer{doc: m.parent.Spec, base: m.parent.WorkingDir.Abs, home: m.in.Home}
	m.tree = m.brought()
	inner := m.placed()
	m.root.Kind = Object
	for _, name := range []string{"sandbox", "filesystem", "network", "environment", "commands", "limits", "broker"} {
		if m.parent.Spec.node().Get(name) != nil || m.child.node().Get(name) != nil {
			m.root.Members = append(m.root.Members, Member{Key: name, Value: &Node{Kind: Object}})
		}
	}
	for i := range fields {
		f := fields[i].Field
		if n := m.join(f, outer.field(&fields[i], m.in), inner.field(&fields[i], m.in)); n != nil {
			setField(&m.root, f, n)
		}
	}
	if len(m.problems) > 0 {
		return nil, m.problems.one()
	}
	doc, err := DecodeJoined(m.child.Source.Name, &m.root)
	if err != nil {
		return nil, err
	}
	doc.Source.Dir = m.child.Source.baseDir(m.in)
	if m.child.Source.Kind == AgentOptions {
		doc.Source.Kind = AgentOptions
	}
	return doc, nil
}

// join merges one field. For most fields the child's value wins if set; order.go checks on the
// whole result whether it is allowed.
func (m *merger) join(f Field, parent, child *Node) *Node {
	switch f {
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
		case m.child.Restrict.Set, m.child.Sandbox.Value.Root.Set:
			return nil // a worker starts in its own tree
		case m.startsIn() == "":
		case m.parent.AccessMode == WorkspaceWrite && !m.child.AccessMode.Set:
			m.start = m.startsIn() // the parent's workspace stays the writable one
		default:
			m.in.unseenCwd = m.child.AccessMode.Or(m.parent.AccessMode) != ReadOnly ||
				groundOf(m.parent, &m.in.Lists, false, false, []string{m.startsIn()}).unseen(m.startsIn()) != ""
			return &Node{Kind: String, Text: m.startsIn(), In: m.child.Source.Name}
		}
	case "access_mode":
		switch {
		case !m.closesWorkspace():
		case m.parent.AccessMode != WorkspaceWrite:
			m.in.listed = true
		case child == nil:
			return m.readOnlyByList()
		}
	case "network.mode", "network.allow":
		if child == nil && m.ownNetwork() {
			return nil
		}
	case "environment.pass":
		if child == nil && parent != nil && m.guards() {
			return m.withoutCredentials(parent)
		}
	case "require_available":
		if child == nil && m.child.BestEffort.Set {
			return nil // the child's list replaces it
		}
	case "best_effort":
		if child == nil && m.child.RequireAvailable.Or(false) {
			return nil
		}
	}
	switch {
	case child != nil:
		return child
	case parent != nil && strings.HasPrefix(string(f), "filesystem."):
		return m.inheritedFiles(f, parent)
	}
	return parent
}
