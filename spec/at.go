package spec

import (
	"cmp"
	"strconv"
	"strings"
)

// At returns the place where a document sets a field, as "spec.json:4:12"; "" if none does.
func (r *Resolved) At(f Field) string {
	if r.Spec == nil {
		return ""
	}
	return r.Spec.At(f)
}

// At returns the place of a field, or of an item of it, in the document; "" if it is not set.
func (s *SandboxSpec) At(f Field) string {
	name, item, indexed := strings.Cut(string(f), "[")
	n := lookUp(s.node(), Field(name))
	if n != nil && indexed {
		index, member, _ := strings.Cut(item, "]")
		i, err := strconv.Atoi(index)
		if err != nil || i >= len(n.Items) {
			return ""
		}
		n = n.Items[i]
		if inner := n.Get(strings.TrimPrefix(member, ".")); inner != nil {
			n = inner
		}
	}
	return s.Source.place(n)
}

// place returns the place of a node of the document, as "spec.json:4:12"; "" for nil.
func (s *Source) place(n *Node) string {
	if n == nil {
		return ""
	}
	in := cmp.Or(n.In, s.Name)
	if n.Pos.Line == 0 {
		return in
	}
	return in + ":" + strconv.Itoa(n.Pos.Line) + ":" + strconv.Itoa(n.Pos.Col)
}

// Asked lists the fields that the document sets, in the order of Fields.
func (s *SandboxSpec) Asked() []Field {
	root := s.node()
	var asked []Field
	for _, f := range fields {
		if lookUp(root, f.Field) != nil {
			asked = append(asked, f.Field)
		}
	}
	return asked
}

// Text returns a field's value as in the document, a string without quotes, others as JSON; "" if the
// field is not set.
func (s *SandboxSpec) Text(f Field) string {
	n := lookUp(s.node(), f)
	if n == nil {
		return ""
	}
	if n.Kind == String {
		return n.Text
	}
	return string(n.AppendJSON(nil, nil))
}

// Names returns the member names of a field's value without the values, for example to show
// environment.set without secrets.
func (s *SandboxSpec) Names(f Field) []string {
	n := lookUp(s.node(), f)
	if n == nil {
		return nil
	}
	var names []string
	for i := range n.Members {
		names = append(names, n.Members[i].Key)
	}
	return names
}

// node returns the document, or one made from the values.
func (s *SandboxSpec) node() *Node {
	if s.Source.Root != nil {
		return s.Source.Root
	}
	return s.Node()
}
