package audit

import (
	"errors"
	"strconv"

	"sbx/spec"
)

// The bounds of a record that is read back. It may be larger and deeper than
// a spec, which it holds, so that spec's reader would refuse it.
const (
	maxRecord = 32 << 20
	maxNested = 64
)

// View is a record as it was read back. Keys that this version does not know
// are in Node and are otherwise passed over.
type View struct {
	Node  *spec.Node
	State string // as written; Derive finds out more
}

// Parse reads a record.
func Parse(b []byte) (View, error) {
	if len(b) > maxRecord {
		return View{}, errors.New("larger than any record")
	}
	p := reader{b: b}
	n, err := p.document()
	if err != nil {
		return View{}, err
	}
	v := View{Node: n, State: text(n.Get("state"))}
	if n.Get("record_version") == nil || v.State == "" {
		return View{}, errors.New("no record: record_version and state are missing")
	}
	return v, nil
}

// text is a string's value, and "" of anything else.
func text(n *spec.Node) string {
	if n == nil || n.Kind != spec.String {
		return ""
	}
	return n.Text
}

// whole is a whole number's value.
func whole(n *spec.Node) spec.Opt[int64] {
	if n == nil || n.Kind != spec.Number {
		return spec.Opt[int64]{}
	}
	v, err := strconv.ParseInt(n.Text, 10, 64)
	if err != nil {
		return spec.Opt[int64]{}
	}
	return spec.Some(v)
}

// items are a list's values; nil of anything else.
func items(n *spec.Node) []*spec.Node {
	if n == nil || n.Kind != spec.List {
		return nil
	}
	return n.Items
}

// reader reads JSON (RFC 8259). A byte that is not UTF-8 and half a surrogate
// pair become U+FFFD; of equal keys the first counts.
type reader struct {
	b []byte
	i int
}

func (p *reader) fail(why string) error {
	return errors.New("byte " + strconv.Itoa(p.i) + ": " + why)
}

func (p *reader) document() (*spec.Node, error) {
	p.space()
	n, err := p.value(0)
	if err != nil {
		return nil, err
	}
	p.space()
	if p.i != len(p.b) {
		return nil, p.fail("more after the record")
	}
	return n, nil
}

func (p *reader) space() {
	for p.i < len(p.b) {
		switch p.b[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
		default:
			return
		}
	}
}

// peek is the next byte, 0 at the end.
func (p *reader) peek() byte {
	if p.i < len(p.b) {
		return p.b[p.i]
	}
	return 0
}

func (p *reader) value(depth int) (*spec.Node, error) {
	if depth > maxNested {
		return nil, p.fail("nested too deep")
	}
	switch c := p.peek(); {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.list(depth)
	case c == '"':
		s, err := p.string()
		return &spec.Node{Kind: spec.String, Text: s}, err
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	case c == 't':
		return p.word("true", spec.Bool)
	case c == 'f':
		return p.word("false", spec.Bool)
	case c == 'n':
		return p.word("null", spec.Null)
	}
	return nil, p.fail("no JSON value")
}

func (p *reader) word(w string, k spec.Kind) (*spec.Node, error) {
	if len(p.b)-p.i < len(w) || string(p.b[p.i:p.i+len(w)]) != w {
		return nil, p.fail("no JSON value")
	}
	p.i += len(w)
	return &spec.Node{Kind: k, Text: w}, nil
}

func (p *reader) number() (*spec.Node, error) {
	from := p.i
	if p.peek() == '-' {
		p.i++
	}
	whole := p.digits()
	ok := whole == 1 || whole > 1 && p.b[p.i-whole] != '0'
	if ok && p.peek() == '.' {
		p.i++
		ok = p.digits() > 0
	}
	if c := p.peek(); ok && (c == 'e' || c == 'E') {
		p.i++
		if c = p.peek(); c == '+' || c == '-' {
			p.i++
		}
		ok = p.digits() > 0
	}
	if !ok {
		return nil, p.fail("no JSON number")
	}
	return &spec.Node{Kind: spec.Number, Text: string(p.b[from:p.i])}, nil
}

func (p *reader) digits() int {
	from := p.i
	for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
		p.i++
	}
	return p.i - from
}

func (p *reader) list(depth int) (*spec.Node, error) {
	n := &spec.Node{Kind: spec.List}
	p.i++
	for first := true; ; first = false {
		done, err := p.between(']', first)
		if done || err != nil {
			return n, err
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		n.Items = append(n.Items, v)
	}
}

func (p *reader) object(depth int) (*spec.Node, error) {
	n := &spec.Node{Kind: spec.Object}
	p.i++
	for first := true; ; first = false {
		done, err := p.between('}', first)
		if done || err != nil {
			return n, err
		}
		if p.peek() != '"' {
			return nil, p.fail("no key")
		}
		key, err := p.string()
		if err != nil {
			return nil, err
		}
		p.space()
		if p.peek() != ':' {
			return nil, p.fail("no colon after a key")
		}
		p.i++
		p.space()
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		n.Members = append(n.Members, spec.Member{Key: key, Value: v})
	}
}

// between stands before each member: it takes the comma, or the end.
func (p *reader) between(end byte, first bool) (done bool, err error) {
	p.space()
	switch c := p.peek(); {
	case c == end:
		p.i++
		return true, nil
	case first:
		return false, nil
	case c != ',':
		return false, p.fail("no comma between values")
	}
	p.i++
	p.space()
	if p.peek() == end {
		return false, p.fail("no value after a comma")
	}
	return false, nil
}
