package agent

import (
	"bytes"
	"unicode/utf8"

	"sbx/internal/doc"
)

// field is a member that is looked for: the text of its value, of the first one
// where the key stands twice. It is a piece of the line.
type field struct {
	b       []byte
	set     bool
	str     bool // b is what stands between the quotes of a string
	escaped bool
}

// read takes the value under the cursor.
func (f *field) read(c *cursor) {
	if f.set || c.bad {
		c.skip()
		return
	}
	f.set = true
	if c.space() == '"' {
		f.str = true
		f.b, f.escaped = c.raw()
		return
	}
	f.b = c.span()
}

// text is the string's value, at most limit bytes; "" of anything else.
func (f *field) text(limit int) string {
	if !f.str {
		return ""
	}
	b := doc.Clip(f.b, limit)
	if f.escaped {
		b = unescape(f.b, limit)
	}
	if !utf8.Valid(b) { // no two names may look alike in the record
		b = doc.Clip(bytes.ToValidUTF8(b, []byte("\uFFFD")), limit)
	}
	return string(b)
}

// bytes is the string's value without a bound. It does not allocate but for a
// value with escapes.
func (f *field) bytes() []byte {
	if f.escaped {
		return unescape(f.b, len(f.b))
	}
	return f.b
}

// is tells whether the string's value is the word s. It does not allocate but
// for a value with escapes.
func (f *field) is(s string) bool {
	if f.escaped {
		return f.text(maxKey) == s
	}
	return f.str && string(f.b) == s
}

// yes tells whether the value is true.
func (f *field) yes() bool { return !f.str && string(f.b) == "true" }

// null tells whether the value is null or absent.
func (f *field) null() bool { return !f.str && (!f.set || string(f.b) == "null") }

// sub is a cursor on the value.
func (f *field) sub() cursor {
	if f.str {
		return cursor{bad: true}
	}
	return cursor{b: f.b}
}

// number is the value as a whole number that is not negative; ok is false for
// what is written otherwise or does not fit.
func (f *field) number() (n int64, ok bool) {
	c := f.sub()
	if c.bad {
		return 0, false
	}
	return c.number()
}

// fields reads the members of the object under the cursor that keys name. The
// value is stepped over, whatever it is.
func (c *cursor) fields(keys ...string) (f [4]field) {
	if c.space() != '{' {
		c.skip()
		return f
	}
	var wanted [4]member
	for i := range keys {
		wanted[i] = member{keys[i], &f[i]}
	}
	c.enter('{')
	c.members(wanted[:len(keys)])
	return f
}

// member is a key that is looked for, and where its value goes.
type member struct {
	key string
	to  *field
}

// members reads the rest of the object that the cursor is in.
func (c *cursor) members(wanted []member) {
	for first := true; c.more('}', &first); {
		c.take(c.key(), wanted)
	}
}

// take reads the value under the cursor, that of a key, if it is wanted.
func (c *cursor) take(key []byte, wanted []member) {
	for i := range wanted {
		if string(key) == wanted[i].key {
			wanted[i].to.read(c)
			return
		}
	}
	c.skip()
}
