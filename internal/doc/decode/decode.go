package decode

import (
	"strconv"
	"strings"

	"sbx/internal/doc"
)

// Decoder reads the values of a document. It keeps the first error.
type Decoder struct {
	Name string // of the document
	Path string // of the field that is being read
	// Known returns the full names of the fields of a spec, if the document is one: an unknown
	// field may be one of them in the wrong object, and "$schema", which editors read, is
	// allowed.
	Known func() []string
	Err   *doc.Error
	// Joined is set for a document that was made of several, whose lists may be longer than
	// MaxItems.
	Joined bool
}

// Rule returns what is wrong with a string, what was probably meant, and what would help; why is
// "" if nothing is wrong.
type Rule func(s string) (why, meant, help string)

// Field is one field of an object: how to read it into a T and how to write it.
type Field[T any] struct {
	Name string
	Read func(d *Decoder, n *doc.Node, into *T)
	Node func(from *T) *doc.Node // returns nil if the field is not set; nil for objects that are never written
}

// Object reads the members of n by the table of fields.
func Object[T any](d *Decoder, n *doc.Node, fields []Field[T], into *T) {
	if !d.Want(n, doc.Object, "an object") {
		return
	}
	outer := d.Path
	for i := range n.Members {
		m := &n.Members[i]
		d.Path = doc.Join(outer, m.Key)
		if outer == "" && d.Known != nil && m.Key == "$schema" { // which editors read
			if !d.Want(m.Value, doc.String, "a string") {
				return
			}
			continue
		}
		read := Reader(fields, m.Key)
		if read == nil {
			d.unknown(m, outer, Names(fields))
			return
		}
		if read(d, m.Value, into); d.Err != nil {
			return
		}
	}
	d.Path = outer
}

// Reader returns the reader of the field called name; nil if there is none.
func Reader[T any](fields []Field[T], name string) func(*Decoder, *doc.Node, *T) {
	for i := range fields {
		if fields[i].Name == name {
			return fields[i].Read
		}
	}
	return nil
}

// Names returns the names of the fields.
func Names[T any](fields []Field[T]) []string {
	all := make([]string, len(fields))
	for i := range fields {
		all[i] = fields[i].Name
	}
	return all
}

func (d *Decoder) unknown(m *doc.Member, outer string, known []string) {
	d.Path = doc.Join(outer, doc.Word(doc.Cut(m.Key)))
	d.Fail(m.KeyPos, "unknown field")
	d.Err.Meant = doc.Nearest(m.Key, known)
	if d.Err.Meant != "" {
		return
	}
	if d.Known != nil {
		for _, full := range d.Known() {
			if strings.HasSuffix(full, "."+m.Key) { // right name, wrong object
				d.Err.Meant = full
				return
			}
		}
	}
	d.Err.Help = "known here: " + strings.Join(known, ", ")
}

// Fail records an error at pos, unless there is one already.
func (d *Decoder) Fail(pos doc.Pos, why string) { d.FailMeant(pos, why, "", "") }

// FailMeant is Fail with what was probably meant and what would help.
func (d *Decoder) FailMeant(pos doc.Pos, why, meant, help string) {
	if d.Err == nil {
		d.Err = &doc.Error{Name: d.Name, Pos: pos, Field: d.Path, Why: why, Meant: meant, Help: help}
	}
}

// Want reports whether n is of a kind; what names that kind in the error.
func (d *Decoder) Want(n *doc.Node, k doc.Kind, what string) bool {
	switch n.Kind {
	case k:
		return true
	case doc.Null:
		d.FailMeant(n.Pos, "want "+what+", got null", "", "leave the field out to not constrain it")
	default:
		d.Fail(n.Pos, "want "+what+", got "+n.Kind.String())
	}
	return false
}

// Bool reads true or false.
func (d *Decoder) Bool(n *doc.Node) bool {
	return d.Want(n, doc.Bool, "true or false") && n.Text == "true"
}

// String reads a string that follows a rule.
func (d *Decoder) String(n *doc.Node, r Rule) string {
	if n.Kind != doc.Number && n.Kind != doc.Bool {
		if !d.Want(n, doc.String, "a string") {
			return ""
		}
	} else {
		d.FailMeant(n.Pos, "want a string, got "+n.Kind.String(), "", "put it in quotes: "+doc.Quote(n.Text))
		return ""
	}
	if why, meant, help := r(n.Text); why != "" {
		d.FailMeant(n.Pos, why, meant, help)
	}
	return n.Text
}

// Strings reads a list of strings, which is never nil.
func (d *Decoder) Strings(n *doc.Node, r Rule) []string {
	all := []string{}
	d.Each(n, "a list of strings", func(item *doc.Node) { all = append(all, d.String(item, r)) })
	return all
}

// Each calls read for every item of the list n, with the path set.
func (d *Decoder) Each(n *doc.Node, what string, read func(*doc.Node)) {
	if n.Kind == doc.String {
		d.FailMeant(n.Pos, "want "+what+", got a string", "", "write ["+doc.Quote(doc.Cut(n.Text))+"]")
		return
	}
	if !d.Want(n, doc.List, what) || !d.bounded(n, len(n.Items), "items") {
		return
	}
	outer := d.Path
	for i, item := range n.Items {
		d.Path = outer + "[" + strconv.Itoa(i) + "]"
		if read(item); d.Err != nil {
			return
		}
	}
	d.Path = outer
}

// MaxItems is how many items a list may have, and how many members an object whose members may
// have any names.
const MaxItems = 4096

// bounded reports whether a list or object of so many items, or other things, is no longer
// than it may be.
func (d *Decoder) bounded(n *doc.Node, length int, items string) bool {
	if length <= MaxItems || d.Joined {
		return true
	}
	most := strconv.Itoa(MaxItems)
	d.FailMeant(n.Pos, "want at most "+most+" "+items+", got "+strconv.Itoa(length), "",
		"write one that covers several (a directory, a pattern), or leave out what is not needed")
	return false
}

// Word reads a word of an enumeration.
func Word[E ~uint8](d *Decoder, n *doc.Node, parse func(string) (E, bool), known []string) E {
	what := "one of " + strings.Join(known, ", ")
	if !d.Want(n, doc.String, what) {
		return 0
	}
	e, ok := parse(n.Text)
	if !ok {
		d.FailMeant(n.Pos, "want "+what+", got "+doc.Quote(doc.Cut(n.Text)), doc.Nearest(n.Text, known), "")
	}
	return e
}

// Whole reads a whole number from low to high.
func (d *Decoder) Whole(n *doc.Node, low, high int) int {
	what := "a whole number ≥ " + strconv.Itoa(low)
	if high != MaxWhole {
		what = "a whole number from " + strconv.Itoa(low) + " to " + strconv.Itoa(high)
	}
	if !d.Want(n, doc.Number, what) {
		return 0
	}
	v, ok := WholeNumber(n.Text)
	switch {
	case !ok || v < int64(low):
		d.Fail(n.Pos, "want "+what+", got "+doc.Cut(n.Text))
	case v > int64(high):
		d.Fail(n.Pos, "want a whole number of at most "+strconv.Itoa(high)+", got "+doc.Cut(n.Text))
	}
	return int(v)
}

// Number reads a number from low to high.
func (d *Decoder) Number(n *doc.Node, low, high float64, what string) float64 {
	if !d.Want(n, doc.Number, what) {
		return 0
	}
	v, err := strconv.ParseFloat(n.Text, 64)
	if err != nil || !(v >= low && v <= high) { // not a number is in no range
		d.Fail(n.Pos, "want "+what+", got "+doc.Cut(n.Text))
	}
	return v
}

// Named reads an object whose members may have any names that follow a rule.
func (d *Decoder) Named(n *doc.Node, what string, r Rule, read func(*doc.Member)) {
	if !d.Want(n, doc.Object, what) || !d.bounded(n, len(n.Members), "names") {
		return
	}
	outer := d.Path
	for i := range n.Members {
		m := &n.Members[i]
		d.Path = doc.Join(outer, doc.Word(doc.Cut(m.Key)))
		if why, meant, help := r(m.Key); why != "" {
			d.FailMeant(m.KeyPos, why, meant, help)
			return
		}
		if read(m); d.Err != nil {
			return
		}
	}
	d.Path = outer
}

// Part reads an object that is one field of another.
func Part[T any](d *Decoder, n *doc.Node, fields []Field[T]) T {
	var t T
	Object(d, n, fields, &t)
	return t
}

// WholeNumber reads a JSON number that is whole, however it is written: 3,
// 3.0 and 30e-1 are. Numbers too large for an int64 are the largest.
func WholeNumber(text string) (v int64, ok bool) {
	const largest = 1<<63 - 1
	digits, negative := strings.CutPrefix(text, "-")
	exponent := 0
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		e, err := strconv.Atoi(digits[i+1:])
		if err != nil { // out of the range of int, or .inf
			e = 1 << 40
			if strings.HasPrefix(digits[i+1:], "-") {
				e = -e
			}
		}
		digits, exponent = digits[:i], e
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	digits = whole + fraction
	if doc.LeadingDigits(digits) != digits {
		return 0, false // .inf, .nan
	}
	exponent -= len(fraction)
	trimmed := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(trimmed)
	trimmed = strings.TrimLeft(trimmed, "0")
	switch {
	case trimmed == "":
		return 0, true
	case exponent < 0:
		return 0, false
	case exponent+len(trimmed) > 18:
		v = largest
	default:
		v, _ = strconv.ParseInt(trimmed+strings.Repeat("0", exponent), 10, 64)
	}
	if negative {
		v = -v
	}
	return v, true
}

// MaxWhole is the largest whole number that a document may have: beyond it JSON readers no longer
// agree.
const MaxWhole = 1<<53 - 1
