package doc

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// ParseJSON reads one JSON document as RFC 8259 has it and no looser: no
// duplicate keys, nothing after the document, no byte order mark, valid UTF-8
// and whole surrogate pairs only; at most 1 MiB and 65536 values, nested at most 32 deep.
func ParseJSON(name string, b []byte) (*Node, error) {
	if err := Check(name, b); err != nil {
		return nil, err
	}
	return newJSON(name, b, maxDepth).document()
}

// ParseLaxJSON reads what a program wrote that may be older, newer or damaged,
// and takes what encoding/json does: a byte that is not UTF-8 and half of a
// surrogate pair become U+FFFD, and of equal keys all are kept. It is nested at
// most depth deep; its size is for the caller to bound.
func ParseLaxJSON(name string, b []byte, depth int) (*Node, error) {
	r := newJSON(name, b, depth, jsontext.AllowInvalidUTF8(true))
	r.values, r.lax = -1, true
	return r.document()
}

// jsonReader makes a tree of jsontext's tokens.
type jsonReader struct {
	name   string
	b      []byte
	s      string // b again: what a node holds is a piece of it
	d      *jsontext.Decoder
	slab   slab
	depth  int  // the most levels
	values int  // the most values; -1 for any number
	lax    bool // as ParseLaxJSON
}

func newJSON(name string, b []byte, depth int, more ...jsontext.Options) *jsonReader {
	d := jsontext.NewDecoder(bytes.NewBuffer(b), append(more, jsontext.AllowDuplicateNames(true))...) // they are seen here, as YAML's
	return &jsonReader{name: name, b: b, s: string(b), d: d, depth: depth, values: maxValues}
}

func (r *jsonReader) document() (*Node, error) {
	if r.blanks(0) == len(r.b) {
		return nil, &Error{Name: r.name, Why: "empty document"}
	}
	tok, start, err := r.read(nil)
	if err != nil {
		return nil, err
	}
	n, err := r.value(tok, start)
	if err != nil {
		return nil, err
	}
	if i := r.blanks(r.end()); i < len(r.b) {
		if err := r.runsOn(n, i); err != nil {
			return nil, err
		}
		return nil, r.fail(i, "more text after the end of the document")
	}
	l := newLocator(r.b)
	l.locate(n)
	return n, nil
}

// read reads the next token of the list or object in, and tells where it stands.
func (r *jsonReader) read(in *Node) (tok jsontext.Token, start int, err error) {
	start = r.end()
	for start < len(r.b) && strings.IndexByte(" \t\r\n,:", r.b[start]) >= 0 {
		start++
	}
	if tok, err = r.d.ReadToken(); err != nil {
		err = r.refuse(in, err)
	}
	return tok, start, err
}

// value is the node that begins with a token.
func (r *jsonReader) value(tok jsontext.Token, start int) (*Node, error) {
	if r.slab.count == r.values {
		return nil, r.fail(start, tooMany)
	}
	switch tok.Kind() {
	case '{', '[':
		if r.d.StackDepth() > r.depth {
			return nil, r.fail(start, "nested more than "+strconv.Itoa(r.depth)+" deep")
		}
		if tok.Kind() == '{' {
			return r.object(r.slab.node(Object, start))
		}
		return r.list(r.slab.node(List, start))
	case '"':
		n := r.slab.node(String, start)
		n.Text = r.text(tok, start)
		return n, nil
	case '0':
		n := r.slab.node(Number, start)
		n.Text = r.s[start:r.end()]
		return n, nil
	case 'n':
		return r.slab.node(Null, start), nil
	}
	n := r.slab.node(Bool, start)
	n.Text = r.s[start:r.end()]
	return n, nil
}

// text is a string's value: a piece of the document but where it has escapes.
func (r *jsonReader) text(tok jsontext.Token, start int) string {
	text := r.s[start+1 : r.end()-1]
	if r.lax || strings.IndexByte(text, '\\') >= 0 {
		return tok.String()
	}
	return text
}

func (r *jsonReader) list(n *Node) (*Node, error) {
	for {
		tok, start, err := r.read(n)
		if err != nil || tok.Kind() == ']' {
			return n, err
		}
		item, err := r.value(tok, start)
		if err != nil {
			return nil, err
		}
		n.Items = append(n.Items, item)
	}
}

func (r *jsonReader) object(n *Node) (*Node, error) {
	var keys keySet
	for {
		tok, at, err := r.read(n)
		if err != nil || tok.Kind() == '}' {
			return n, err
		}
		key := r.text(tok, at)
		if !r.lax && keys.add(n.Members, key) {
			return nil, r.fail(at, "the key "+Quote(Cut(key))+" is there twice")
		}
		tok, start, err := r.read(n)
		if err != nil {
			return nil, err
		}
		v, err := r.value(tok, start)
		if err != nil {
			return nil, err
		}
		n.Members = append(n.Members, Member{Key: key, KeyPos: offset(at), Value: v})
	}
}

// end is where the last token ends.
func (r *jsonReader) end() int { return int(r.d.InputOffset()) }

func (r *jsonReader) fail(off int, why string) error { return ErrorAt(r.name, r.b, off, why) }

// blanks is the first place from i on that is no white space.
func (r *jsonReader) blanks(i int) int {
	for i < len(r.b) && strings.IndexByte(" \t\r\n", r.b[i]) >= 0 {
		i++
	}
	return i
}

func (r *jsonReader) at(i int, c byte) bool { return i < len(r.b) && r.b[i] == c }

// refuse says what is wrong behind the last token, in the list or object in, in
// the words of all documents: jsontext counts bytes and does not say what is wanted.
func (r *jsonReader) refuse(in *Node, err error) error {
	bad := &jsontext.SyntacticError{}
	if !errors.As(err, &bad) {
		bad.Err = io.ErrUnexpectedEOF
	}
	i := r.blanks(r.end())
	if in == nil {
		return r.refuseToken(i, bad)
	}
	kind, entries := r.d.StackIndex(r.d.StackDepth())
	end := byte(']')
	if kind == '{' {
		end = '}'
	}
	switch {
	case kind == '{' && entries%2 == 1:
		if !r.at(i, ':') {
			return r.fail(i, "want : after the key "+Quote(Cut(r.d.StackPointer().LastToken()))+", got "+quoteAt(r.b, i))
		}
		return r.refuseToken(r.blanks(i+1), bad)
	case entries > 0:
		if i == len(r.b) {
			return r.fail(in.Pos.Col, "the document ends before this is closed by "+string(end))
		}
		if !r.at(i, ',') {
			if err := r.runsOn(in.last(), i); err != nil {
				return err
			}
			return r.fail(i, "want , or "+string(end)+", got "+quoteAt(r.b, i))
		}
		if i = r.blanks(i + 1); r.at(i, end) {
			return r.fail(i, "no comma may stand before "+string(end))
		}
	}
	if kind == '{' && !r.at(i, '"') {
		return r.fail(i, "want a key in double quotes, got "+quoteAt(r.b, i))
	}
	return r.refuseToken(i, bad)
}

// runsOn refuses what goes on at i without a break behind the last value: 01 and nullx
// are one word each, and two tokens to jsontext.
func (r *jsonReader) runsOn(last *Node, i int) error {
	start := last.Pos.Col
	switch c := r.b[i]; {
	case i != r.end():
	case last.Kind == Number && c >= '0' && c <= '9':
		return r.fail(start, "a number cannot begin with 0")
	case (last.Kind == Bool || last.Kind == Null) && isWordByte(c):
		return r.fail(start, "want a value, got "+Quote(Cut(r.word(start))))
	}
	return nil
}

// refuseToken says what is wrong with the value or key that begins at i.
func (r *jsonReader) refuseToken(i int, bad *jsontext.SyntacticError) error {
	if i == len(r.b) {
		return r.fail(i, "the document ends where a value is expected")
	}
	off := len(r.b)
	if bad.Err != io.ErrUnexpectedEOF {
		off = int(bad.ByteOffset)
	}
	switch c, before := r.b[i], r.b[max(off, 1)-1]; {
	case c == '"' && off == len(r.b):
		return r.fail(i, "the string is not closed")
	case c == '"' && r.b[off] == '\\':
		return r.fail(off, escapeFault(r.b[off:]))
	case c == '"':
		return r.fail(off, "a control character in a string must be written as an escape")
	case c == '-' && off == i+1:
		return r.fail(i, "want a digit after -")
	case (c == '-' || c >= '0' && c <= '9') && before == '.':
		return r.fail(i, "want a digit after the decimal point")
	case c == '-' || c >= '0' && c <= '9':
		return r.fail(i, "want a digit in the exponent")
	}
	if w := r.word(i); w != "" {
		return r.fail(i, "want a value, got "+Quote(Cut(w)))
	}
	return r.fail(i, "want a value, got "+quoteAt(r.b, i))
}

// escapeFault is what is wrong with the escape that b begins with.
func escapeFault(b []byte) string {
	if len(b) < 2 || b[1] != 'u' {
		return "unknown escape in a string"
	}
	_, _, why := UnicodeEscape(b)
	return why
}

func (r *jsonReader) word(i int) string {
	end := i
	for end < len(r.b) && isWordByte(r.b[end]) {
		end++
	}
	return r.s[i:end]
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
