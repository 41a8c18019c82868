package agent

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// cursor walks over one JSON text without allocating. It checks what it needs
// to keep its place (strings, and that brackets balance) and no more. Where the
// text is at odds with that, bad is set and every later step is refused.
type cursor struct {
	b   []byte
	i   int
	bad bool
}

// class tells the bytes that a value which is skipped is steered by.
var class = [256]byte{'"': '"', '{': '{', '[': '{', '}': '}', ']': '}'}

func (c *cursor) fail() { c.bad = true }

// space skips white space; it returns the byte after it, 0 at the end.
func (c *cursor) space() byte {
	for c.i < len(c.b) {
		switch b := c.b[c.i]; b {
		case ' ', '\t', '\r', '\n':
			c.i++
		default:
			return b
		}
	}
	return 0
}

// enter steps into an object ('{') or a list ('['); false where the value is
// something else, which is then still to be skipped.
func (c *cursor) enter(open byte) bool {
	if c.bad || c.space() != open {
		return false
	}
	c.i++
	return true
}

// more steps to the next entry of the object or list that ends in end. It is
// false behind the last one, where the cursor stands after end.
func (c *cursor) more(end byte, first *bool) bool {
	if c.bad {
		return false
	}
	b := c.space()
	if b == end {
		c.i++
		return false
	}
	if !*first {
		if b != ',' {
			c.fail()
			return false
		}
		c.i++
	}
	*first = false
	return true
}

// key reads a member's key up to its value. The bytes are a piece of the text
// but where the key holds escapes.
func (c *cursor) key() []byte {
	if c.space() != '"' {
		c.fail()
		return nil
	}
	k, escaped := c.raw()
	if c.bad || c.space() != ':' {
		c.fail()
		return nil
	}
	c.i++
	c.space()
	if escaped {
		return unescape(k, maxKey)
	}
	return k
}

// raw reads a string: what stands between its quotes, and whether there are
// escapes in it. The cursor stands on the opening quote.
func (c *cursor) raw() (s []byte, escaped bool) {
	start := c.i + 1
	if end := plainEnd(c.b, start); end >= 0 {
		c.i = end + 1
		return c.b[start:end], false
	}
	end := stringEnd(c.b, start)
	if end < 0 {
		c.fail()
		return nil, false
	}
	c.i = end + 1
	s = c.b[start:end]
	return s, bytes.IndexByte(s, '\\') >= 0
}

// stringEnd is the place of the quote that closes the string whose first byte
// is b[i], or -1. A quote closes it unless an odd number of backslashes stands
// before it.
func stringEnd(b []byte, i int) int {
	start := i
	for {
		if i = nextQuote(b, i); i < 0 {
			return -1
		}
		if i == start || b[i-1] != '\\' {
			return i
		}
		slashes := 1
		for j := i - 2; j >= start && b[j] == '\\'; j-- {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
		i++
	}
}

// Most strings are short: a few words of eight bytes are looked at before a
// search is begun, whose call costs more than those.
const (
	shortWords = 4
	ones       = 0x0101010101010101
	highs      = 0x8080808080808080
)

// zeros marks the bytes of x that are 0; the lowest mark is always right.
func zeros(x uint64) uint64 { return (x - ones) & ^x & highs }

// plainEnd is the place of the closing quote of a short string without
// escapes, or -1 where that cannot be told.
func plainEnd(b []byte, i int) int {
	for range shortWords {
		if i+8 > len(b) {
			return -1
		}
		x := binary.LittleEndian.Uint64(b[i:])
		quotes, slashes := zeros(x^'"'*ones), zeros(x^'\\'*ones)
		if quotes|slashes != 0 {
			at := bits.TrailingZeros64(quotes | slashes)
			if b[i+at>>3] != '"' {
				return -1
			}
			return i + at>>3
		}
		i += 8
	}
	return -1
}

// nextQuote is the place of the first quote from i on, or -1.
func nextQuote(b []byte, i int) int {
	for range shortWords {
		if i+8 > len(b) {
			break
		}
		if found := zeros(binary.LittleEndian.Uint64(b[i:]) ^ '"'*ones); found != 0 {
			return i + bits.TrailingZeros64(found)>>3
		}
		i += 8
	}
	if n := bytes.IndexByte(b[i:], '"'); n >= 0 {
		return i + n
	}
	return -1
}

// skip steps over one value.
func (c *cursor) skip() {
	switch b := c.space(); {
	case c.bad:
	case b == '"':
		end := stringEnd(c.b, c.i+1)
		if end < 0 {
			c.fail()
			return
		}
		c.i = end + 1
	case b == '{' || b == '[':
		c.close(0)
	default:
		c.skipWord()
	}
}

// leave steps behind the object or list that the cursor is in.
func (c *cursor) leave() {
	if !c.bad {
		c.close(1)
	}
}

// close steps behind the bracket that brings the depth back to 0.
func (c *cursor) close(depth int) {
	b := c.b
	for i := c.i; i < len(b); i++ {
		switch class[b[i]] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				c.i = i + 1
				return
			}
		case '"':
			if i = stringEnd(b, i+1); i < 0 {
				c.fail()
				return
			}
		}
	}
	c.fail()
}

// skipWord steps over a number, true, false or null.
func (c *cursor) skipWord() {
	start := c.i
	for c.i < len(c.b) {
		switch b := c.b[c.i]; {
		case b >= '0' && b <= '9', b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b == '-', b == '+', b == '.':
			c.i++
			continue
		}
		break
	}
	if c.i == start {
		c.fail()
	}
}

// span is the text of one value, which is stepped over.
func (c *cursor) span() []byte {
	c.space()
	start := c.i
	c.skip()
	if c.bad {
		return nil
	}
	return c.b[start:c.i]
}

// number is a whole number that is not negative; ok is false for what is
// written otherwise or does not fit. The value is stepped over.
func (c *cursor) number() (n int64, ok bool) {
	s := c.span()
	if len(s) == 0 || len(s) > 18 {
		return 0, false
	}
	for _, b := range s {
		if b < '0' || b > '9' {
			return 0, false
		}
		n = n*10 + int64(b-'0')
	}
	return n, true
}
