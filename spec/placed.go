package spec

import (
	"slices"
	"strings"

	"sbx/internal/doc"
)

// Document returns the spec as a document that means the same anywhere: with absolute paths and the
// working directory, and with the fields of its profile in place of the profile.
func (r *Resolved) Document() *Node { return r.document(func(_ Field, n *Node) *Node { return n }) }

// Redacted is Document with mark instead of the values of environment.set.
func (r *Resolved) Redacted(mark string) *Node {
	return r.document(func(f Field, n *Node) *Node {
		if f != "environment.set" {
			return n
		}
		hidden := &Node{Kind: Object}
		for _, m := range n.Members {
			hidden.Members = append(hidden.Members, Member{Key: m.Key, Value: doc.Str(mark)})
		}
		return hidden
	})
}

// startsUnseen reports whether the command starts in a directory that is not in view and that no
// document names: a document that named it would make it visible.
func (r *Resolved) startsUnseen() bool {
	if !r.Visible || r.Spec.WorkingDir.Set || r.AccessMode.Guards() || r.Root.Abs != "" {
		return false
	}
	return !slices.ContainsFunc(slices.Concat(r.Read, r.Write), func(p Path) bool { return under(r.WorkingDir.Real, p.Real) })
}

func (r *Resolved) document(each func(Field, *Node) *Node) *Node {
	p := placer{doc: r.Spec, base: r.WorkingDir.Abs, home: r.Home}
	in := Inputs{Home: r.Home, Cwd: r.WorkingDir.Abs}
	root := &Node{Kind: Object}
	for i := range fields {
		f := fields[i].Field
		n := p.field(&fields[i], &in)
		if n != nil && fields[i].Type == typePaths {
			n = r.withPresets(f, n)
		}
		switch f {
		case "profile", "require_available":
			continue
		case "working_dir":
			if r.Job == nil && !r.startsUnseen() {
				n = doc.Str(r.WorkingDir.Abs)
			}
		case "best_effort":
			n = nil
			if len(r.BestEffort) > 0 {
				n = listNode(r.BestEffort, func(f Field) *Node { return doc.Str(string(f)) })
			}
		}
		if n != nil {
			setField(root, f, each(f, n))
		}
	}
	return root
}

// setField sets a field that root does not have.
func setField(root *Node, f Field, n *Node) {
	into, name := root, string(f)
	if outer, inner, nested := strings.Cut(name, "."); nested {
		if into = root.Get(outer); into == nil {
			into = &Node{Kind: Object}
			root.Members = append(root.Members, Member{Key: outer, Value: into})
		}
		name = inner
	}
	into.Members = append(into.Members, Member{Key: name, Value: n})
}

// From returns the document with all its relative paths made relative to dir, including those that
// are relative to the command's working directory: a project's spec means the same in each
// directory of the project. The values keep their places.
func (s *SandboxSpec) From(dir, home string) (*SandboxSpec, error) {
	in := Inputs{Home: home, Cwd: dir}
	based := *s
	based.Source.Dir = dir
	p := placer{doc: &based, base: dir, home: home}
	if s.WorkingDir.Set {
		p.base = p.absolute(s.WorkingDir.Value, dir)
	}
	root := &Node{Kind: Object, Pos: s.node().Pos}
	for i := range fields {
		if n := p.field(&fields[i], &in); n != nil {
			setField(root, fields[i].Field, n)
		}
	}
	placed, err := DecodeJoined(s.Source.Name, root)
	if err != nil {
		return nil, err
	}
	placed.Source.Dir, placed.Source.Kind = dir, s.Source.Kind
	return placed, nil
}
