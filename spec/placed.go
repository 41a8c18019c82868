package spec

import "strings"

// Document is the spec as one that can be read anywhere: its paths absolute, its
// working directory said, and the profile that was filled in left out.
func (r *Resolved) Document() *Node { return r.document(func(_ Field, n *Node) *Node { return n }) }

// Redacted is Document with mark in place of the values of environment.set.
func (r *Resolved) Redacted(mark string) *Node {
	return r.document(func(f Field, n *Node) *Node {
		if f != "environment.set" {
			return n
		}
		hidden := &Node{Kind: Object}
		for _, m := range n.Members {
			hidden.Members = append(hidden.Members, Member{Key: m.Key, Value: stringNode(mark)})
		}
		return hidden
	})
}

// startsUnseen tells whether the command starts in a folder that no document names
// and that is not in view: to name it would open it.
func (r *Resolved) startsUnseen() bool {
	if !r.Visible || r.Spec.WorkingDir.Set || r.AccessMode.Guards() || r.Root.Abs != "" {
		return false
	}
	for _, list := range [][]Path{r.Read, r.Write} {
		for i := range list {
			if under(r.WorkingDir.Real, list[i].Real) {
				return false
			}
		}
	}
	return true
}

func (r *Resolved) document(each func(Field, *Node) *Node) *Node {
	p := placer{doc: r.Spec, base: r.WorkingDir.Abs, home: r.Home}
	in := Inputs{Home: r.Home, Cwd: r.WorkingDir.Abs}
	root := &Node{Kind: Object}
	put := func(f Field, n *Node) {
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
	for i := range fields {
		f := fields[i].Field
		n := p.field(f, &in)
		switch f {
		case "profile", "require_available":
			continue
		case "working_dir":
			if r.Job == nil && !r.startsUnseen() {
				n = stringNode(r.WorkingDir.Abs)
			}
		case "best_effort":
			n = nil
			if len(r.BestEffort) > 0 {
				n = listNode(r.BestEffort, func(f Field) *Node { return stringNode(string(f)) })
			}
		}
		if n != nil {
			put(f, each(f, n))
		}
	}
	return root
}
