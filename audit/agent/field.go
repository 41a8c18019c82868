package agent

import (
	"bytes"
	"unicode/utf8"

	"sbx/internal/doc"
)

// field is the value of a member, as text that is part of the line; the first value if
// the key occurs twice.
type field struct {
	b       []byte
	set     bool
	str     bool // the value is a string, and b is the text between its quotes
	escaped bool
}

// read reads the value at the cursor.
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

// text returns a string's value, at most limit bytes of it; "" for other types.
func (f *field) text(limit int) string {
	if !f.str {
		return ""
	}
	b := doc.Clip(f.b, limit)
	if f.escaped {
		b = unescape(f.b, limit)
	}
	if !utf8.Valid(b) { // as two different names must not look alike in the record
		b = doc.Clip(bytes.ToValidUTF8(b, []byte("\uFFFD")), limit)
	}
	return string(b)
}

// bytes returns a string's whole value. It allocates only for a value with escapes.
func (f *field) bytes() []byte {
	if f.escaped {
		return unescape(f.b, len(f.b))
	}
	return f.b
}

// is reports whether the value is the string s, of at most maxKey bytes. It allocates
// only for a value with escapes.
func (f *field) is(s string) bool {
	if f.escaped {
		return f.text(maxKey) == s
	}
	return f.str && string(f.b) == s
}

// isTrue reports whether the value is true.
func (f *field) isTrue() bool { return !f.str && string(f.b) == "true" }

// isNull reports whether the value is null or absent.
func (f *field) isNull() bool { return !f.str && (!f.set || string(f.b) == "null") }

// sub returns a cursor at the value.
func (f *field) sub() cursor {
	if f.str {
		return cursor{bad: true}
	}
	return cursor{b: f.b}
}

// number returns the value as a number, see cursor.number.
func (f *field) number() (n int64, ok bool) {
	c := f.sub()
	return c.number()
}

// fields returns the members named keys of the value, which are not set if it is no
// object.
func (f *field) fields(keys ...string) [4]field {
	c := f.sub()
	return c.fields(keys...)
}

// fields steps over the value at the cursor and returns its members named keys, which are
// not set if it is no object.
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

// member is a key to look for, and where to store its value.
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

// take steps over the value of key, and stores it if the key is wanted.
func (c *cursor) take(key []byte, wanted []member) {
	for i := range wanted {
		if string(key) == wanted[i].key {
			wanted[i].to.read(c)
			return
		}
	}
	c.skip()
}
