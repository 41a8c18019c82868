package spec

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sbx/internal/doc"
	"sbx/internal/doc/decode"
)

// Amendment is the addition of a command-line flag to one field of a document.
type Amendment struct {
	field Field
	from  string       // the flag, as the place of the added value
	text  string       // as given
	value *Node        // as the field's value
	alone *SandboxSpec // a document with nothing else
}

// ReadAmendment parses the text of a flag as the value of a field, or as one item of its list
// or object. Relative paths count from dir, since they are in no document.
func ReadAmendment(f Field, from, text, dir string) (Amendment, *DecodeError) {
	value, why := flagNode(f, text)
	if !utf8.ValidString(text) {
		why = "want UTF-8, as in every document"
	}
	if why != "" {
		return Amendment{}, &DecodeError{Name: from, Field: string(f), Why: why}
	}
	root := putNode(&Node{Kind: Object}, f, value)
	alone, err := DecodeNode(from, root)
	if err != nil {
		return Amendment{}, err.(*DecodeError)
	}
	if f.isPaths() {
		path := fromDir(dir, text)
		if _, ok := Spelled(path); !ok && path != text {
			return Amendment{}, &DecodeError{Name: from, Field: string(f), Why: "no spec can name " + quote(cut(path)), Help: "start in another directory"}
		}
		if value.Kind == List {
			value.Items[0].Text = path
		} else {
			value.Text = path
		}
		if alone, err = DecodeNode(from, root); err != nil {
			return Amendment{}, err.(*DecodeError)
		}
	}
	a := Amendment{field: f, from: from, text: text, alone: alone}
	written := *alone
	written.Source.Root = nil
	a.value = lookUp(written.Node(), f) // in the form of specs, whatever the form in the flag
	a.value.In = from
	for _, item := range a.value.Items {
		item.In = from
	}
	for i := range a.value.Members {
		a.value.Members[i].Value.In = from
	}
	return a, nil
}

// isPaths reports whether a field's value is a path or a list of paths.
func (f Field) isPaths() bool {
	return strings.HasPrefix(string(f), "filesystem.") || f == "broker.file" || f == "broker.plan"
}

// flagNode returns a flag's text as the value of a field: a list with one item, an object with one
// member, or the value itself.
func flagNode(f Field, text string) (n *Node, why string) {
	whole, fraction, dot := strings.Cut(text, ".")
	isDigits := func(s string) bool { return s != "" && doc.LeadingDigits(s) == s }
	switch f {
	case "max_commands":
		if !isDigits(text) {
			return nil, "want a whole number ≥ 0, got " + quote(cut(text))
		}
		return &Node{Kind: Number, Text: text}, ""
	case "limits.timeout":
		if isDigits(whole) && (!dot || isDigits(fraction)) {
			return &Node{Kind: Number, Text: text}, ""
		}
		return doc.Str(text), ""
	case "network.mode", "broker.file", "broker.plan":
		return doc.Str(text), ""
	case "environment.set":
		name, value, _ := strings.Cut(text, "=")
		return variablesNode(map[string]string{name: value}), ""
	}
	return doc.Strs([]string{text}), ""
}

// fromDir makes a path in a list of filesystem absolute, relative to dir, whose links are resolved.
// It returns other items unchanged.
func fromDir(dir, path string) string {
	if path[0] == '/' || path[0] == '~' || path[0] == '@' || strings.HasPrefix(path, "**/") {
		return path
	}
	for {
		first, rest, more := strings.Cut(path, "/")
		switch {
		case first == "..":
			dir = parent(dir)
		case first != "." && first != "":
			return joinPath(dir, path)
		}
		if !more || rest == "" {
			return dir
		}
		path = rest
	}
}

// Amended returns a copy of a document with the additions of flags: an item appended to a list, a
// member added to an object, or a limit that is new or wider than the document's. A flag that
// contradicts the document is an error. job says that the job layout applies, in which only named
// paths are visible.
func Amended(s *SandboxSpec, all []Amendment, job bool) (*SandboxSpec, error) {
	more := *s
	for i := range all {
		a := &all[i]
		if p := a.against(&more); p != nil {
			return nil, p
		}
		value := a.value
		if has := lookUp(more.node(), a.field); has != nil {
			value = joined(has, a.value)
		} else if a.field == "filesystem.read" && !job && !more.Sandbox.Set { // a list of one item would hide everything else
			value = joined(&Node{Kind: List, In: a.from, Items: []*Node{{Kind: String, Text: "/", In: a.from}}}, a.value)
		}
		root := putNode(more.node(), a.field, value)
		top, _, _ := strings.Cut(string(a.field), ".")
		d := NewDecoder(s.Source.Name)
		d.Path = top
		decode.Reader(specFields, top)(&d, root.Get(top), &more)
		if d.Err != nil {
			return nil, d.Err
		}
		more.Source.Root = root
	}
	return &more, nil
}

// Concerns reports whether a document sets the field that a adds to.
func (a *Amendment) Concerns(s *SandboxSpec) bool {
	return lookUp(s.node(), a.field) != nil || a.field == "network.allow" && s.Network.Set
}

// joined returns has with the items or members of more appended; more itself if they are neither lists
// nor objects.
func joined(has, more *Node) *Node {
	both := *has
	switch has.Kind {
	case List:
		both.Items = slices.Concat(has.Items, more.Items)
	case Object:
		both.Members = slices.Concat(has.Members, more.Members)
	default:
		both = *more
	}
	return &both
}

// against returns why a document does not accept an amendment; nil if it does.
func (a *Amendment) against(s *SandboxSpec) *Problem {
	p := &Problem{Field: a.field, On: s.At(a.field), Do: "have " + odd(cut(a.text)) + " (" + a.from + ")"}
	leave := "leave " + a.from + " out"
	switch a.field {
	case "network.allow":
		if mode := s.Network.Value.Mode; mode.Set && mode.Value != NetworkAllow {
			return &Problem{Field: "network.mode", On: s.At("network.mode"), Do: "let the command reach " + odd(cut(a.text)) + " (" + a.from + ")",
				Why: "the spec has network.mode " + mode.Value.String(), Help: leave + `, or write "mode": "allow" in the spec`}
		}
	case "network.mode":
		if has := s.Text(a.field); has != "" && has != a.text {
			p.Why, p.Help = "the spec has "+has, leave+", or change the spec"
			return p
		}
	case "max_commands":
		if has := s.MaxCommands; has.Set && a.alone.MaxCommands.Value > has.Value {
			p.Why, p.Help = "the spec has "+strconv.Itoa(has.Value), leave+", or ask for no more than the spec has"
			return p
		}
	case "limits.timeout":
		if has := s.Limits.Value.Timeout; has.Set && a.alone.Limits.Value.Timeout.Value > has.Value {
			p.Why, p.Help = "the spec has "+s.Text(a.field), leave+", or ask for no more than the spec has"
			return p
		}
	case "broker.file", "broker.plan":
		if has := lookUp(s.node(), a.field); has != nil && has.Text != a.value.Text {
			p.Why, p.Help = "the spec has "+odd(cut(has.Text)), leave+", or take "+string(a.field)+" out of the spec"
			return p
		}
	case "environment.set":
		name := a.value.Members[0].Key
		if has := lookUp(s.node(), a.field).Get(name); has != nil {
			p.On, p.Do = s.Source.place(has), "set "+odd(cut(name))+" ("+a.from+")"
			p.Why, p.Help = "the spec sets it itself", leave+", or take the name out of environment.set"
			return p
		}
	}
	return nil
}

// putNode returns a copy of a document with the value of one field set.
func putNode(root *Node, f Field, value *Node) *Node {
	key, rest, nested := strings.Cut(string(f), ".")
	if nested {
		inner := root.Get(key)
		if inner == nil {
			inner = &Node{Kind: Object}
		}
		value = putNode(inner, Field(rest), value)
	}
	return root.With(key, value)
}
