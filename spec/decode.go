package spec

import (
	"strconv"
	"strings"

	"sbx/internal/doc"
)

// Decode reads one document. Its name says what it is: .yaml and .yml are YAML,
// .json is JSON; any other is JSON where it begins with "{". The error is a
// *DecodeError and names the first thing that is wrong.
func Decode(name string, b []byte) (*SandboxSpec, error) {
	root, err := doc.Parse(name, b)
	if err != nil {
		return nil, err
	}
	return DecodeNode(name, root)
}

// DecodeNode reads a document that has been parsed already, as the sandbox of
// a workshop file is. The spec's Source names it and holds root; Source.Dir is
// the caller's to set.
func DecodeNode(name string, root *Node) (*SandboxSpec, error) {
	d := decoder{name: name}
	s := &SandboxSpec{Source: Source{Name: name, Root: root}}
	if root.Kind != Object {
		d.fail(root.Pos, "want an object with the fields of a spec, got "+root.Kind.String())
		return nil, d.err
	}
	object(&d, root, specFields, s)
	d.acrossFields(root)
	if d.err != nil {
		return nil, d.err
	}
	return s, nil
}

// decoder keeps the first error and the path of the field that it is at.
type decoder struct {
	name  string
	path  string
	other bool // no spec: a field of a spec is nothing here
	err   *DecodeError
}

// member is one field of an object and how it is read into T and written; what no
// document is made of has no node.
type member[T any] struct {
	name string
	read func(d *decoder, n *Node, into *T)
	node func(from *T) *Node // nil where it is not set
}

// object reads the members of n by the table of fields.
func object[T any](d *decoder, n *Node, fields []member[T], into *T) {
	if !d.want(n, Object, "an object") {
		return
	}
	outer := d.path
	for i := range n.Members {
		m := &n.Members[i]
		d.path = doc.Join(outer, m.Key)
		if outer == "" && !d.other && m.Key == "$schema" { // which editors read
			if !d.want(m.Value, String, "a string") {
				return
			}
			continue
		}
		read := fieldReader(fields, m.Key)
		if read == nil {
			d.unknown(m, outer, names(fields))
			return
		}
		if read(d, m.Value, into); d.err != nil {
			return
		}
	}
	d.path = outer
}

func fieldReader[T any](fields []member[T], name string) func(*decoder, *Node, *T) {
	for i := range fields {
		if fields[i].name == name {
			return fields[i].read
		}
	}
	return nil
}

func names[T any](fields []member[T]) []string {
	all := make([]string, len(fields))
	for i := range fields {
		all[i] = fields[i].name
	}
	return all
}

func (d *decoder) unknown(m *Member, outer string, known []string) {
	d.path = doc.Join(outer, odd(cut(m.Key)))
	d.fail(m.KeyPos, "unknown field")
	d.err.Meant = doc.Nearest(m.Key, known)
	if d.err.Meant != "" {
		return
	}
	for _, f := range fields { // right name, wrong object
		if full := string(f.Field); !d.other && strings.HasSuffix(full, "."+m.Key) {
			d.err.Meant = full
			return
		}
	}
	d.err.Help = "known here: " + strings.Join(known, ", ")
}

// fail records an error at pos; the first one counts.
func (d *decoder) fail(pos Pos, why string) { d.failMeant(pos, why, "", "") }

func (d *decoder) failMeant(pos Pos, why, meant, help string) {
	if d.err == nil {
		d.err = &DecodeError{Name: d.name, Pos: pos, Field: d.path, Why: why, Meant: meant, Help: help}
	}
}

// want tells whether n is of a kind; what says in words what is wanted.
func (d *decoder) want(n *Node, k Kind, what string) bool {
	switch n.Kind {
	case k:
		return true
	case Null:
		d.failMeant(n.Pos, "want "+what+", got null", "", "leave the field out to not constrain it")
	default:
		d.fail(n.Pos, "want "+what+", got "+n.Kind.String())
	}
	return false
}

func (d *decoder) bool(n *Node) Opt[bool] {
	if !d.want(n, Bool, "true or false") {
		return Opt[bool]{}
	}
	return Some(n.Text == "true")
}

// rule tells what is wrong with a string; why is "" where nothing is.
type rule func(s string) (why, meant, help string)

func (d *decoder) string(n *Node, r rule) string {
	if n.Kind != Number && n.Kind != Bool {
		if !d.want(n, String, "a string") {
			return ""
		}
	} else {
		d.failMeant(n.Pos, "want a string, got "+n.Kind.String(), "", "put it in quotes: "+quote(n.Text))
		return ""
	}
	if why, meant, help := r(n.Text); why != "" {
		d.failMeant(n.Pos, why, meant, help)
	}
	return n.Text
}

// strings reads a list of strings. The empty list is not nil: it is set.
func (d *decoder) strings(n *Node, r rule) Opt[[]string] {
	all := []string{}
	d.each(n, "a list of strings", func(item *Node) { all = append(all, d.string(item, r)) })
	return Some(all)
}

// each calls read for every item of the list n, with the path set.
func (d *decoder) each(n *Node, what string, read func(*Node)) {
	if n.Kind == String {
		d.failMeant(n.Pos, "want "+what+", got a string", "", "write ["+quote(cut(n.Text))+"]")
		return
	}
	if !d.want(n, List, what) {
		return
	}
	outer := d.path
	for i, item := range n.Items {
		d.path = outer + "[" + strconv.Itoa(i) + "]"
		if read(item); d.err != nil {
			return
		}
	}
	d.path = outer
}

// word reads one word of an enumeration.
func word[E ~uint8](d *decoder, n *Node, parse func(string) (E, bool), known []string) Opt[E] {
	what := "one of " + strings.Join(known, ", ")
	if !d.want(n, String, what) {
		return Opt[E]{}
	}
	e, ok := parse(n.Text)
	if !ok {
		d.failMeant(n.Pos, "want "+what+", got "+quote(cut(n.Text)), doc.Nearest(n.Text, known), "")
	}
	return Some(e)
}

// whole reads a whole number from low to high.
func (d *decoder) whole(n *Node, low, high int) int {
	what := "a whole number ≥ " + strconv.Itoa(low)
	if high != maxWhole {
		what = "a whole number from " + strconv.Itoa(low) + " to " + strconv.Itoa(high)
	}
	if !d.want(n, Number, what) {
		return 0
	}
	v, ok := wholeNumber(n.Text)
	switch {
	case !ok || v < int64(low):
		d.fail(n.Pos, "want "+what+", got "+cut(n.Text))
	case v > int64(high):
		d.fail(n.Pos, "want a whole number of at most "+strconv.Itoa(high)+", got "+cut(n.Text))
	}
	return int(v)
}

// number reads a number from low to high.
func (d *decoder) number(n *Node, low, high float64, what string) float64 {
	if !d.want(n, Number, what) {
		return 0
	}
	v, err := strconv.ParseFloat(n.Text, 64)
	if err != nil || !(v >= low && v <= high) { // not a number is in no range
		d.fail(n.Pos, "want "+what+", got "+cut(n.Text))
	}
	return v
}
