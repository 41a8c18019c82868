package wrap

import (
	"slices"
	"strings"

	"sbx/internal/doc"
	"sbx/internal/view"
	"sbx/spec"
)

// toldFields are the fields that an sbx inside compares as they were asked: what
// no kernel holds for it, and what a later document could loosen.
var toldFields = [...]spec.Field{"tools_allowed", "tools_denied", "max_turns", "max_commands", "on_exceed", "limits", "best_effort", "require_available", "agent"}

// tellSpec is what a nested document is compared with beside what the kernel
// holds.
func (b *teller) tellSpec(p *Parent) {
	if dir := b.r.WorkingDir.Real; b.prefix == "" || b.r.Job != nil || b.view.At(dir).Source == dir || b.onTop(dir) >= 0 {
		p.Dir = dir // where the directory is not in view, to have started in it opens nothing
	}
	p.System = b.r.System
	for _, path := range b.view.Places() {
		if g := b.view.At(path); g.Access == view.Write && !reaches(g) && !b.h.OwnKernel(path) {
			p.Private = append(p.Private, path)
		}
	}
	b.tellView(p)
	b.tellAsked(p)
}

// tellAsked is the part of it that holds whatever is mounted.
func (b *teller) tellAsked(p *Parent) {
	asked := &spec.Node{Kind: spec.Object}
	doc := b.r.Spec.Node()
	for _, f := range toldFields {
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

// environmentNames are the variables that a command may have, as environment.pass
// names them; nil for any. The values of those that are set are the command's to
// change.
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

// programNodes are programs as they are named inside.
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

// names reports whether a list of the outer sandbox's commands has all of these.
func (p *Parent) names(list string, all []spec.ProgramAt) bool {
	for _, n := range programNodes(all).Items {
		if !slices.ContainsFunc(p.listed(list), func(has *spec.Node) bool { return has.Text == n.Text }) {
			return false
		}
	}
	return true
}

// namesOnly reports whether it has nothing else.
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

// FreeParent is what errors call the spec of an outer sandbox that mounts nothing.
const FreeParent = "the outer sbx's spec"

// Document is the outer sandbox's resolved spec as the document that an sbx
// inside narrows: its paths are those inside. there reports whether something
// stands at a path; what is not in view there cannot be named.
func (p *Parent) Document(there func(path string) bool) (*spec.SandboxSpec, error) {
	asked := p.asked
	if asked == nil {
		asked = &spec.Node{Kind: spec.Object}
	}
	s, err := spec.DecodeJoined(ParentPath, asked)
	if err != nil {
		return nil, err
	}
	s.Source.Root = nil // made here
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
	s.Source.Root = s.Node() // without places: it is named as a whole
	return s, nil
}

// standing are the paths of some lists at which something stands, and the names at any
// depth.
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

// Default is the document of who asks for nothing inside: it inherits. A list that is
// about to be added to begins with what the outer sandbox has of it; alone it would be
// all that is left.
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

// Workshop is what the outer sandbox leaves a worker of its workshop, as the document
// that a worker inside narrows; nil where it is no workshop's.
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

// worker has a worker's files held as far as they can be beside those of the worker
// that called it, and says so once.
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
