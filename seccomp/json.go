package seccomp

import (
	"errors"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// value is one value of a JSON document, with the place where it starts. The
// reader is a small one of its own because encoding/json costs every start of
// sbx more than most profiles' work is worth, and knows no places.
type value struct {
	at     int     // the offset of its first byte
	kind   byte    // one of { [ " 0 t f n, as its text begins
	text   string  // a string's contents; a number as written
	list   []value // an array's values; an object's, each after its name
	fields []field
}

// field is a member of an object.
type field struct {
	at   int
	name string
	value
}

// limits of a document; Docker's own profile has 20 KiB and depth 5.
const (
	maxDocument = 1 << 20
	maxDepth    = 32
)

// syntaxError is what is wrong at an offset of the document.
type syntaxError struct {
	at  int
	err error
}

func (e *syntaxError) Error() string { return e.err.Error() }

// reader reads JSON (RFC 8259), more strictly than most: no name twice in an
// object, no broken UTF-8, nothing after the value.
type reader struct {
	doc []byte
	pos int
}

// readJSON reads a whole document. An error is a *syntaxError.
func readJSON(doc []byte) (v value, err error) {
	r := reader{doc: doc}
	defer func() {
		if p := recover(); p != nil {
			bad, ok := p.(*syntaxError)
			if !ok {
				panic(p)
			}
			err = bad
		}
	}()
	if len(doc) > maxDocument {
		r.fail("the document is longer than 1 MiB")
	}
	v = r.value(0)
	r.space()
	if r.pos < len(r.doc) {
		r.fail("something follows the document's end")
	}
	return v, nil
}

// fail ends the reading; readJSON returns the error.
func (r *reader) fail(what string) { r.failAt(r.pos, what) }

func (r *reader) failAt(at int, what string) {
	panic(&syntaxError{at: at, err: errors.New(what)})
}

func (r *reader) space() {
	for r.pos < len(r.doc) {
		switch r.doc[r.pos] {
		case ' ', '\t', '\n', '\r':
			r.pos++
		default:
			return
		}
	}
}

// peek is the next byte that is no space, 0 at the end.
func (r *reader) peek() byte {
	r.space()
	if r.pos == len(r.doc) {
		return 0
	}
	return r.doc[r.pos]
}

// take reads c, or fails.
func (r *reader) take(c byte, what string) {
	if r.peek() != c {
		r.fail("want " + what)
	}
	r.pos++
}

func (r *reader) value(depth int) value {
	c := r.peek()
	v := value{at: r.pos, kind: c}
	if depth == maxDepth {
		r.fail("values are nested more than 32 deep")
	}
	switch {
	case c == '{':
		v.fields = r.object(depth)
	case c == '[':
		v.list = r.array(depth)
	case c == '"':
		v.text = r.text()
	case c == '-' || c >= '0' && c <= '9':
		v.kind, v.text = '0', r.number()
	case c == 't':
		r.word("true")
	case c == 'f':
		r.word("false")
	case c == 'n':
		r.word("null")
	case c == 0 && r.pos == len(r.doc):
		r.fail("the document ends too early")
	default:
		r.fail("want a value")
	}
	return v
}

func (r *reader) word(w string) {
	if len(r.doc)-r.pos < len(w) || string(r.doc[r.pos:r.pos+len(w)]) != w {
		r.fail("want a value")
	}
	r.pos += len(w)
}

func (r *reader) object(depth int) []field {
	r.pos++
	var fields []field
	seen := map[string]bool{}
	for r.peek() != '}' {
		if len(fields) > 0 {
			r.take(',', "a comma or the object's end")
		}
		if r.peek() != '"' {
			r.fail("want a name in quotes")
		}
		f := field{at: r.pos}
		f.name = r.text()
		if seen[f.name] {
			r.failAt(f.at, "the name "+strconv.Quote(f.name)+" is there twice")
		}
		seen[f.name] = true
		r.take(':', "a colon")
		f.value = r.value(depth + 1)
		fields = append(fields, f)
	}
	r.pos++
	return fields
}

func (r *reader) array(depth int) []value {
	r.pos++
	list := []value{}
	for r.peek() != ']' {
		if len(list) > 0 {
			r.take(',', "a comma or the array's end")
		}
		list = append(list, r.value(depth+1))
	}
	r.pos++
	return list
}

// number reads a number and keeps it as written.
func (r *reader) number() string {
	start := r.pos
	digits := func() {
		from := r.pos
		for r.pos < len(r.doc) && r.doc[r.pos] >= '0' && r.doc[r.pos] <= '9' {
			r.pos++
		}
		if r.pos == from {
			r.fail("want a digit")
		}
	}
	next := func(set string) bool {
		for i := range len(set) {
			if r.pos < len(r.doc) && r.doc[r.pos] == set[i] {
				r.pos++
				return true
			}
		}
		return false
	}
	next("-")
	if !next("0") {
		digits()
	}
	if next(".") {
		digits()
	}
	if next("eE") {
		next("+-")
		digits()
	}
	return string(r.doc[start:r.pos])
}

// text reads a string.
func (r *reader) text() string {
	r.pos++
	var out []byte
	for r.pos < len(r.doc) {
		c := r.doc[r.pos]
		switch {
		case c == '"':
			r.pos++
			return string(out)
		case c < ' ':
			r.fail("a control character stands in a string")
		case c == '\\':
			out = r.escape(out)
		case c < utf8.RuneSelf:
			out = append(out, c)
			r.pos++
		default:
			_, size := utf8.DecodeRune(r.doc[r.pos:])
			if size == 1 {
				r.fail("the document is not valid UTF-8")
			}
			out = append(out, r.doc[r.pos:r.pos+size]...)
			r.pos += size
		}
	}
	r.fail("the document ends within a string")
	return ""
}

// escape reads one escape sequence, of two \u sequences where they are the
// halves of one character.
func (r *reader) escape(out []byte) []byte {
	if r.pos+1 >= len(r.doc) {
		r.fail("the document ends within a string")
	}
	c := r.doc[r.pos+1]
	const from, to = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	for i := range len(from) {
		if c == from[i] {
			r.pos += 2
			return append(out, to[i])
		}
	}
	if c != 'u' {
		r.fail("there is no such escape sequence")
	}
	at := r.pos
	first := r.unicode()
	if !utf16.IsSurrogate(first) {
		return utf8.AppendRune(out, first)
	}
	if r.pos+1 < len(r.doc) && r.doc[r.pos] == '\\' && r.doc[r.pos+1] == 'u' {
		if whole := utf16.DecodeRune(first, r.unicode()); whole != utf8.RuneError {
			return utf8.AppendRune(out, whole)
		}
	}
	r.failAt(at, "half a character is escaped")
	return nil
}

// unicode reads \uXXXX.
func (r *reader) unicode() rune {
	if r.pos+6 > len(r.doc) {
		r.fail("the document ends within a string")
	}
	n, err := strconv.ParseUint(string(r.doc[r.pos+2:r.pos+6]), 16, 16)
	if err != nil {
		r.fail("want four hexadecimal digits")
	}
	r.pos += 6
	return rune(n)
}
