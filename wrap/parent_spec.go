package wrap

import (
	"slices"
	"strings"

	"sbx/internal/doc"
	"sbx/internal/view"
	"sbx/spec"
)

// reportedFields are the fields that the outer sandbox reports as its documents set them. No kernel
// mechanism enforces them for an sbx inside, and a later document could loosen them.
var reportedFields = [...]spec.Field{"tools_allowed", "tools_denied", "max_turns", "max_commands", "on_exceed", "limits", "best_effort", "require_available", "agent"}

// reportSpec adds what a nested document is compared with, in addition to what the kernel enforces.
func (b *reporter) reportSpec(p *Parent) {
	if dir := b.r.WorkingDir.Real; b.prefix == "" || b.r.Job != nil || b.view.At(dir).Source == dir || b.onTop(dir) >= 0 {
		p.Dir = dir // if the directory is not in view, a document that starts there would open nothing
	}
	p.System = b.r.System
	for _, path := range b.view.Places() {
		if g := b.view.At(path); g.Access == view.Write && !reaches(g) && !b.h.OwnKernel(path) {
			p.Private = append(p.Private, path)
		}
	}
	b.reportView(p)
	b.reportRequested(p)
}

// reportRequested adds the fields that apply whether or not anything is mounted.
func (b *reporter) reportRequested(p *Parent) {
	asked := &spec.Node{Kind: spec.Object}
	doc := b.r.Spec.Node()
	for _, f := range reportedFields {
		if n := doc.Get(string(f)); n != nil {
			asked.Members = append(asked.Members, spec.Member{Key: string(f), Value: n})
		}
	}
	if names := environmentNames(doc.Get("environment")); names != nil {
		pass := spec.Member{Key: "pass", Value: names}
		asked.Members = append(asked.Members, spec.Member{Key: "environment", Value: &spec.Node{Kind: spec.Object, Members: []spec.Member{pass}}})
	}
	if b.r.Limited || len(b.r.Deny) > 0 {
		commands := &spec.Node{Kind: spec.Object}
		if b.r.Limited {
			commands.Members = append(commands.Members, spec.Member{Key: "allow", Value: programNodes(b.r.Allow)})
		}
		commands.Members = append(commands.Members, spec.Member{Key: "deny", Value: programNodes(b.r.Deny)})
		asked.Members = append(asked.Members, spec.Member{Key: "commands", Value: commands})
	}
	p.asked = asked
}

// environmentNames returns the variables that a command may have, in the form of environment.pass;
// nil for any. Only the names count, because the command may change the values of the variables
// that environment.set gives it.
func environmentNames(environment *spec.Node) *spec.Node {
	pass := environment.Get("pass")
	if pass == nil {
		return nil
	}
	list := &spec.Node{Kind: spec.List, Items: slices.Clone(pass.Items)}
	if set := environment.Get("set"); set != nil {
		for i := range set.Members {
			list.Items = append(list.Items, doc.Str(set.Members[i].Key))
		}
	}
	return list
}

// programNodes returns the names that programs have inside.
func programNodes(all []spec.ProgramAt) *spec.Node {
	list := &spec.Node{Kind: spec.List}
	for i := range all {
		name := all[i].Name
		if name == "" {
			if name = all[i].Inside; all[i].Path.IsDir {
				name += "/"
			}
		}
		list.Items = append(list.Items, doc.Str(name))
	}
	return list
}

// names reports whether a list of the outer sandbox's commands contains all of these.
func (p *Parent) names(list string, all []spec.ProgramAt) bool {
	for _, n := range programNodes(all).Items {
		if !slices.ContainsFunc(p.listed(list), func(has *spec.Node) bool { return has.Text == n.Text }) {
			return false
		}
	}
	return true
}

// namesOnly reports whether a list of the outer sandbox's commands exists and contains no others.
func (p *Parent) namesOnly(list string, all []spec.ProgramAt) bool {
	for _, has := range p.listed(list) {
		if !slices.ContainsFunc(programNodes(all).Items, func(n *spec.Node) bool { return n.Text == has.Text }) {
			return false
		}
	}
	return p.asked.Get("commands").Get(list) != nil
}

func (p *Parent) listed(list string) []*spec.Node {
	if n := p.asked.Get("commands").Get(list); n != nil {
		return n.Items
	}
	return nil
}

// FreeParent is the name in error messages of the spec of an outer sandbox that mounts nothing.
const FreeParent = "the outer sbx's spec"

// Document returns the outer sandbox's resolved spec as a document that an sbx inside narrows, with
// the paths that they have inside. there reports whether a path exists; paths that are not in view
// are left out.
func (p *Parent) Document(there func(path string) bool) (*spec.SandboxSpec, error) {
	asked := p.asked
	if asked == nil {
		asked = &spec.Node{Kind: spec.Object}
	}
	s, err := spec.DecodeJoined(ParentPath, asked)
	if err != nil {
		return nil, err
	}
	s.Source.Root = nil // sbx made the tree here, no file has it
	if p.Free {
		s.Source.Name, s.Source.Root = FreeParent, s.Node()
		return s, nil
	}
	if p.AccessMode != spec.AccessUnset {
		s.AccessMode = spec.Some(p.AccessMode)
	}
	if p.Dir != "" && there(p.Dir) {
		s.WorkingDir = spec.Some(p.Dir)
	}
	network := spec.Network{Mode: spec.Some(p.Network)}
	if p.Network == spec.NetworkAllow {
		network.Allow = spec.Some(slices.Clone(p.Reach))
	}
	if len(p.Listen) > 0 {
		network.Listen = spec.Some(slices.Clone(p.Listen))
	}
	s.Network = spec.Some(network)
	fs := spec.Filesystem{Hide: spec.Some(slices.Clone(p.Hidden))}
	if p.Confined {
		beside := slices.Clone(p.Writable)
		if p.AccessMode == spec.WorkspaceWrite {
			beside = slices.DeleteFunc(beside, func(w string) bool { return w == p.Dir })
		}
		fs.Write = spec.Some(standing(there, beside, p.Private, p.Allowed))
	}
	if p.Visible {
		fs.Read = spec.Some(p.read(there))
	}
	s.Filesystem = spec.Some(fs)
	s.Source.Root = s.Node() // without places: messages name the document as a whole
	return s, nil
}

// standing returns the paths in lists that exist, and the names at any depth.
func standing(there func(path string) bool, lists ...[]string) []string {
	all := append([]string{}, slices.Concat(lists...)...)
	return slices.DeleteFunc(all, func(path string) bool { return !strings.HasPrefix(path, "**/") && !there(path) })
}

func (p *Parent) read(there func(path string) bool) []string {
	all := standing(there, p.Read, p.Opened, p.Private)
	if p.System {
		all = append(all, spec.System)
	}
	return all
}

// Default returns the document of a caller inside who requests nothing, and so inherits the outer
// sandbox's spec. If a list will be added to, it begins with the outer sandbox's entries: a list by
// itself would replace them.
func (p *Parent) Default(name string, write, read bool, there func(path string) bool) *spec.SandboxSpec {
	s := &spec.SandboxSpec{}
	var fs spec.Filesystem
	if write && p.Confined {
		fs.Write = spec.Some(standing(there, p.Writable, p.Private, p.Allowed))
	}
	if read && p.Visible {
		fs.Read = spec.Some(p.read(there))
	}
	if fs.Write.Set || fs.Read.Set {
		s.Filesystem = spec.Some(fs)
	}
	s.Source.Name, s.Source.Root = name, s.Node()
	return s
}

// Workshop returns the part of its workshop's tree that the outer sandbox shows a worker, as a
// document that a worker inside narrows; nil if the outer sandbox belongs to no workshop.
func (p *Parent) Workshop() *spec.SandboxSpec {
	if p.Root == "" {
		return nil
	}
	box := spec.Workshop{Root: spec.Some(p.Root)}
	if !slices.ContainsFunc(p.Writable, func(dir string) bool { return under(p.Root, dir) }) {
		box.Readonly = spec.Some(true)
	}
	s := &spec.SandboxSpec{Sandbox: spec.Some(box)}
	s.Source.Name, s.Source.Root = ParentPath, s.Node()
	return s
}

// worker reports that a worker's file rules are enforced only as well as possible inside the
// sandbox of the worker that called it. It warns once.
func (b *nesting) worker(f spec.Field, why string) {
	warning := spec.Warning{Field: f, On: b.r.At(f), Text: why}
	b.fault(f, Degraded, why)
	for _, f := range []spec.Field{"sandbox.readonly", "restrict", "readonly"} {
		if at := b.r.At(f); at != "" {
			b.fault(f, Degraded, why)
			warning.Field, warning.On = f, at
		}
	}
	if len(b.plan.Warnings) == 0 {
		b.plan.Warnings = append(b.plan.Warnings, warning)
	}
}
