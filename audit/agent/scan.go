package agent

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// cursor walks over one JSON text without allocating. It checks only strings and that
// brackets balance, which it needs to keep its position. An error sets bad, and every
// later step fails.
type cursor struct {
	b   []byte
	i   int
	bad bool
}

// class holds the kind of each byte that matters to skip a value; 0 for all others.
var class = [256]byte{'"': '"', '{': '{', '[': '{', '}': '}', ']': '}'}

func (c *cursor) fail() { c.bad = true }

// space skips white space and returns the byte after it, 0 at the end.
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

// enter steps into an object ('{') or a list ('['). It returns false at any other value
// and does not skip that.
func (c *cursor) enter(open byte) bool {
	if c.bad || c.space() != open {
		return false
	}
	c.i++
	return true
}

// more steps to the next entry of the object or list that ends in end. After the last
// entry it returns false and the cursor is after end.
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

// key reads a member's key and steps to its value. The result is part of the text unless
// the key contains escapes.
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

// raw reads the string at whose opening quote the cursor is. It returns the bytes between
// the quotes, and whether they contain escapes.
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

// stringEnd returns the index of the quote that closes the string whose first byte is
// b[i], or -1. A quote closes it unless an odd number of backslashes precedes it.
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

// Most strings are short. So a few words of eight bytes are checked first, which costs
// less than a call of bytes.IndexByte.
const (
	shortWords = 4
	ones       = 0x0101010101010101
	highs      = 0x8080808080808080
)

// zeros sets the highest bit of each byte of x that is 0. Only the lowest set bit is
// reliable.
func zeros(x uint64) uint64 { return (x - ones) & ^x & highs }

// plainEnd returns the index of the closing quote of a short string without escapes, -1
// for any other string.
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

// nextQuote returns the index of the first quote from i on, or -1.
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

// leave steps out of the object or list that the cursor is in.
func (c *cursor) leave() {
	if !c.bad {
		c.close(1)
	}
}

// close steps after the bracket that brings the depth back to 0.
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

// span steps over one value and returns its text.
func (c *cursor) span() []byte {
	c.space()
	start := c.i
	c.skip()
	if c.bad {
		return nil
	}
	return c.b[start:c.i]
}

// number steps over one value and returns it; ok is false unless it is a non-negative
// integer in plain digits of at most 18 places.
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
