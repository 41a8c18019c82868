package doc

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// ParseJSON reads one JSON document strictly by RFC 8259. It rejects duplicate keys, text after
// the document, a byte order mark, invalid UTF-8, half a surrogate pair, more than 1 MiB or
// 65536 values, and nesting of more than 32 levels.
func ParseJSON(name string, b []byte) (n *Node, err error) {
	if err := Check(name, b); err != nil {
		return nil, err
	}
	defer refused(&n, &err)
	return newJSON(name, b, maxDepth).document(), nil
}

// ParseLaxJSON reads a file that another program wrote, perhaps another version of it, or that
// is damaged. As encoding/json does, it replaces a byte that is not UTF-8, and half of a
// surrogate pair, by U+FFFD. It keeps all members of equal keys. depth limits the nesting; the
// caller has to limit the size.
func ParseLaxJSON(name string, b []byte, depth int) (n *Node, err error) {
	r := newJSON(name, b, depth, jsontext.AllowInvalidUTF8(true))
	r.values, r.lax = -1, true
	defer refused(&n, &err)
	return r.document(), nil
}

// jsonReader builds a tree from jsontext's tokens.
type jsonReader struct {
	name   string
	b      []byte
	s      string // the same as b: the nodes' texts share its memory
	d      *jsontext.Decoder
	slab   slab
	depth  int  // the maximal nesting
	values int  // the maximal number of values; -1 for no limit
	lax    bool // for ParseLaxJSON
}

func newJSON(name string, b []byte, depth int, more ...jsontext.Options) *jsonReader {
	d := jsontext.NewDecoder(bytes.NewBuffer(b), append(more, jsontext.AllowDuplicateNames(true))...) // object finds them, as for YAML
	return &jsonReader{name: name, b: b, s: string(b), d: d, depth: depth, values: maxValues}
}

func (r *jsonReader) document() *Node {
	if r.blanks(0) == len(r.b) {
		panic(&Error{Name: r.name, Why: "empty document"})
	}
	n := r.value(r.read(nil))
	if i := r.blanks(r.end()); i < len(r.b) {
		r.runsOn(n, i)
		r.fail(i, "more text after the end of the document")
	}
	return located(r.b, n)
}

// read reads the next token of the list or object in, and returns its offset.
func (r *jsonReader) read(in *Node) (tok jsontext.Token, start int) {
	start = r.end()
	for start < len(r.b) && strings.IndexByte(" \t\r\n,:", r.b[start]) >= 0 {
		start++
	}
	tok, err := r.d.ReadToken()
	if err != nil {
		r.fail(r.refuse(in, err))
	}
	return tok, start
}

// value reads the node that begins with tok.
func (r *jsonReader) value(tok jsontext.Token, start int) *Node {
	if r.slab.count == r.values {
		r.fail(start, tooMany)
	}
	switch tok.Kind() {
	case '{', '[':
		if r.d.StackDepth() > r.depth {
			r.fail(start, "nested more than "+strconv.Itoa(r.depth)+" deep")
		}
		if tok.Kind() == '{' {
			return r.object(r.slab.node(Object, start, ""))
		}
		return r.list(r.slab.node(List, start, ""))
	case '"':
		return r.slab.node(String, start, r.text(tok, start))
	case '0':
		return r.slab.node(Number, start, r.s[start:r.end()])
	case 'n':
		return r.slab.node(Null, start, "")
	}
	return r.slab.node(Bool, start, r.s[start:r.end()])
}

// text returns a string's value: a part of the document, unless it has escapes.
func (r *jsonReader) text(tok jsontext.Token, start int) string {
	text := r.s[start+1 : r.end()-1]
	if r.lax || strings.IndexByte(text, '\\') >= 0 {
		return tok.String()
	}
	return text
}

func (r *jsonReader) list(n *Node) *Node {
	for {
		tok, start := r.read(n)
		if tok.Kind() == ']' {
			return n
		}
		n.Items = append(n.Items, r.value(tok, start))
	}
}

func (r *jsonReader) object(n *Node) *Node {
	var keys keySet
	for {
		tok, at := r.read(n)
		if tok.Kind() == '}' {
			return n
		}
		key := r.text(tok, at)
		if !r.lax && keys.add(n.Members, key) {
			r.fail(at, twice(key))
		}
		n.Members = append(n.Members, Member{Key: key, KeyPos: offset(at), Value: r.value(r.read(n))})
	}
}

// end returns the offset behind the last token.
func (r *jsonReader) end() int { return int(r.d.InputOffset()) }

// fail ends the reading: it panics with an Error, which ParseJSON returns.
func (r *jsonReader) fail(off int, why string) {
	panic(&Error{Name: r.name, Pos: PosAt(r.b, off), Why: why})
}

// blanks returns the first offset from i on that is not white space.
func (r *jsonReader) blanks(i int) int {
	for i < len(r.b) && strings.IndexByte(" \t\r\n", r.b[i]) >= 0 {
		i++
	}
	return i
}

func (r *jsonReader) at(i int, c byte) bool { return i < len(r.b) && r.b[i] == c }

// refuse returns what is wrong after the last token of the list or object in. The message is
// worded here because jsontext's has no column and does not say what is expected.
func (r *jsonReader) refuse(in *Node, err error) (off int, why string) {
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
			return i, "want : after the key " + Quote(Cut(r.d.StackPointer().LastToken())) + ", got " + quoteAt(r.b, i)
		}
		return r.refuseToken(r.blanks(i+1), bad)
	case entries > 0:
		if i == len(r.b) {
			return in.Pos.Col, "the document ends before this is closed by " + string(end)
		}
		if !r.at(i, ',') {
			r.runsOn(in.last(), i)
			return i, "want , or " + string(end) + ", got " + quoteAt(r.b, i)
		}
		if i = r.blanks(i + 1); r.at(i, end) {
			return i, "no comma may stand before " + string(end)
		}
	}
	if kind == '{' && !r.at(i, '"') {
		return i, "want a key in double quotes, got " + quoteAt(r.b, i)
	}
	return r.refuseToken(i, bad)
}

// runsOn rejects text that follows the last value directly at i: 01 and nullx are one word
// each to a person, but two tokens to jsontext.
func (r *jsonReader) runsOn(last *Node, i int) {
	start := last.Pos.Col
	switch c := r.b[i]; {
	case i != r.end():
	case last.Kind == Number && c >= '0' && c <= '9':
		r.fail(start, "a number cannot begin with 0")
	case (last.Kind == Bool || last.Kind == Null) && isWordByte(c):
		r.fail(start, "want a value, got "+Quote(Cut(r.word(start))))
	}
}

// refuseToken returns what is wrong with the value or key that begins at i.
func (r *jsonReader) refuseToken(i int, bad *jsontext.SyntacticError) (off int, why string) {
	if i == len(r.b) {
		return i, "the document ends where a value is expected"
	}
	off = len(r.b)
	if bad.Err != io.ErrUnexpectedEOF {
		off = int(bad.ByteOffset)
	}
	c := r.b[i]
	isNumber := c == '-' || c >= '0' && c <= '9'
	switch {
	case c == '"' && off == len(r.b):
		return i, "the string is not closed"
	case c == '"' && r.b[off] == '\\':
		return off, escapeFault(r.b[off:])
	case c == '"':
		return off, "a control character in a string must be written as an escape"
	case c == '-' && off == i+1:
		return i, "want a digit after -"
	case isNumber && r.b[max(off, 1)-1] == '.':
		return i, "want a digit after the decimal point"
	case isNumber:
		return i, "want a digit in the exponent"
	}
	if w := r.word(i); w != "" {
		return i, "want a value, got " + Quote(Cut(w))
	}
	return i, "want a value, got " + quoteAt(r.b, i)
}

// escapeFault returns what is wrong with the escape at the beginning of b.
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
