package spec

import (
	"strconv"
	"unicode/utf8"
)

// ParseJSON reads one JSON document as RFC 8259 has it and no looser: no
// duplicate keys, nothing after the document, no byte order mark, valid UTF-8
// and whole surrogate pairs only; at most 1 MiB and 65536 values, nested at most 32 deep.
func ParseJSON(name string, b []byte) (*Node, error) {
	if err := checkBytes(name, b); err != nil {
		return nil, err
	}
	p := jsonReader{name: name, b: b, depth: maxDepth, values: maxValues}
	return p.document()
}

// ParseLaxJSON reads what a program wrote that may be older, newer or damaged,
// and takes what encoding/json does: a byte that is not UTF-8 and half of a
// surrogate pair become U+FFFD, and of equal keys all are kept. It is nested at
// most depth deep; its size is for the caller to bound.
func ParseLaxJSON(name string, b []byte, depth int) (*Node, error) {
	if !utf8.Valid(b) {
		valid := make([]byte, 0, len(b)+len(b)/8)
		for _, r := range string(b) {
			valid = utf8.AppendRune(valid, r)
		}
		b = valid
	}
	p := jsonReader{name: name, b: b, depth: depth, values: -1, lax: true}
	return p.document()
}

type jsonReader struct {
	name   string
	b      []byte
	s      string // b again: what a node holds is a piece of it
	i      int
	slab   slab
	depth  int  // the most levels
	values int  // the most values; -1 for any number
	lax    bool // as ParseLaxJSON
}

func (p *jsonReader) document() (*Node, error) {
	p.s = string(p.b)
	p.space()
	if p.i == len(p.b) {
		return nil, &DecodeError{Name: p.name, Why: "empty document"}
	}
	n, err := p.value(0)
	if err != nil {
		return nil, err
	}
	p.space()
	if p.i < len(p.b) {
		return nil, p.fail(p.i, "more text after the end of the document")
	}
	l := newLocator(p.b)
	l.locate(n)
	return n, nil
}

func (p *jsonReader) fail(off int, why string) error { return errorAt(p.name, p.b, off, why) }

func (p *jsonReader) space() {
	for p.i < len(p.b) {
		switch p.b[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
		default:
			return
		}
	}
}

// peek is the next byte, 0 at the end: no JSON text holds a bare 0.
func (p *jsonReader) peek() byte {
	if p.i < len(p.b) {
		return p.b[p.i]
	}
	return 0
}

func (p *jsonReader) value(depth int) (*Node, error) {
	start := p.i
	if p.slab.count == p.values {
		return nil, p.fail(start, tooMany)
	}
	switch c := p.peek(); {
	case c == '{' || c == '[':
		if depth == p.depth {
			return nil, p.fail(start, "nested more than "+strconv.Itoa(p.depth)+" deep")
		}
		if c == '{' {
			return p.object(depth + 1)
		}
		return p.list(depth + 1)
	case c == '"':
		s, err := p.str()
		if err != nil {
			return nil, err
		}
		n := p.slab.node(String, start)
		n.Text = s
		return n, nil
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	return p.word()
}

func (p *jsonReader) word() (*Node, error) {
	start := p.i
	for p.i < len(p.b) && isWordByte(p.b[p.i]) {
		p.i++
	}
	switch w := p.s[start:p.i]; w {
	case "null":
		return p.slab.node(Null, start), nil
	case "true", "false":
		n := p.slab.node(Bool, start)
		n.Text = w
		return n, nil
	case "":
		if start == len(p.b) {
			return nil, p.fail(start, "the document ends where a value is expected")
		}
		return nil, p.fail(start, "want a value, got "+quoteAt(p.b, start))
	default:
		return nil, p.fail(start, "want a value, got "+quote(cut(w)))
	}
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

func (p *jsonReader) number() (*Node, error) {
	start := p.i
	if p.peek() == '-' {
		p.i++
	}
	switch c := p.peek(); {
	case c == '0':
		p.i++
		if c := p.peek(); c >= '0' && c <= '9' {
			return nil, p.fail(start, "a number cannot begin with 0")
		}
	case c >= '1' && c <= '9':
		p.digits()
	default:
		return nil, p.fail(start, "want a digit after -")
	}
	if p.peek() == '.' {
		p.i++
		if !p.digits() {
			return nil, p.fail(start, "want a digit after the decimal point")
		}
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.i++
		if c := p.peek(); c == '+' || c == '-' {
			p.i++
		}
		if !p.digits() {
			return nil, p.fail(start, "want a digit in the exponent")
		}
	}
	n := p.slab.node(Number, start)
	n.Text = p.s[start:p.i]
	return n, nil
}

func (p *jsonReader) digits() (some bool) {
	for p.i < len(p.b) && p.b[p.i] >= '0' && p.b[p.i] <= '9' {
		p.i++
		some = true
	}
	return some
}

func (p *jsonReader) list(depth int) (*Node, error) {
	n := p.slab.node(List, p.i)
	p.i++ // [
	p.space()
	if p.peek() == ']' {
		p.i++
		return n, nil
	}
	for {
		p.space()
		item, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		n.Items = append(n.Items, item)
		done, err := p.comma(']', n)
		if done || err != nil {
			return n, err
		}
	}
}

func (p *jsonReader) object(depth int) (*Node, error) {
	n := p.slab.node(Object, p.i)
	var keys keySet
	p.i++ // {
	p.space()
	if p.peek() == '}' {
		p.i++
		return n, nil
	}
	for {
		p.space()
		at := p.i
		if p.peek() != '"' {
			return nil, p.fail(at, "want a key in double quotes, got "+quoteAt(p.b, at))
		}
		key, err := p.str()
		if err != nil {
			return nil, err
		}
		if !p.lax && keys.add(n.Members, key) {
			return nil, p.fail(at, "the key "+quote(cut(key))+" is there twice")
		}
		p.space()
		if p.peek() != ':' {
			return nil, p.fail(p.i, "want : after the key "+quote(cut(key))+", got "+quoteAt(p.b, p.i))
		}
		p.i++
		p.space()
		v, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		n.Members = append(n.Members, Member{Key: key, KeyPos: offset(at), Value: v})
		done, err := p.comma('}', n)
		if done || err != nil {
			return n, err
		}
	}
}

// comma reads what stands after one entry of the list or object n.
func (p *jsonReader) comma(end byte, n *Node) (done bool, err error) {
	p.space()
	switch p.peek() {
	case end:
		p.i++
		return true, nil
	case ',':
		p.i++
		p.space()
		if p.peek() == end {
			return false, p.fail(p.i, "no comma may stand before "+string(rune(end)))
		}
		return false, nil
	case 0:
		if p.i == len(p.b) {
			return false, p.fail(n.Pos.Col, "the document ends before this is closed by "+string(rune(end)))
		}
	}
	return false, p.fail(p.i, "want , or "+string(rune(end))+", got "+quoteAt(p.b, p.i))
}
