package spec

import (
	"strings"
	"unicode/utf8"
)

// str reads a string with its quotes.
func (p *jsonReader) str() (string, error) {
	open := p.i
	p.i++
	start := p.i
	for p.i < len(p.b) { // most strings hold no escape and are one copy
		switch c := p.b[p.i]; {
		case c == '"':
			p.i++
			return p.s[start : p.i-1], nil
		case c == '\\':
			return p.escaped(open, start)
		case c < 0x20:
			return "", p.fail(p.i, "a control character in a string must be written as an escape")
		}
		p.i++
	}
	return "", p.fail(open, "the string is not closed")
}

func (p *jsonReader) escaped(open, start int) (string, error) {
	var s strings.Builder
	s.Write(p.b[start:p.i])
	for p.i < len(p.b) {
		c := p.b[p.i]
		switch {
		case c == '"':
			p.i++
			return s.String(), nil
		case c < 0x20:
			return "", p.fail(p.i, "a control character in a string must be written as an escape")
		case c != '\\':
			s.WriteByte(c)
			p.i++
			continue
		}
		at := p.i
		p.i++
		switch c := p.peek(); c {
		case '"', '\\', '/':
			s.WriteByte(c)
		case 'b':
			s.WriteByte('\b')
		case 'f':
			s.WriteByte('\f')
		case 'n':
			s.WriteByte('\n')
		case 'r':
			s.WriteByte('\r')
		case 't':
			s.WriteByte('\t')
		case 'u':
			r, size, why := unicodeEscape(p.b[at:])
			if why == halfPair && p.lax {
				r, size, why = utf8.RuneError, len(`\u0000`), ""
			}
			if why != "" {
				return "", p.fail(at, why)
			}
			s.WriteRune(r)
			p.i = at + size
			continue
		default:
			return "", p.fail(at, "unknown escape in a string")
		}
		p.i++
	}
	return "", p.fail(open, "the string is not closed")
}

const halfPair = "half of a surrogate pair"

// unicodeEscape reads \uXXXX, or two of them that make a surrogate pair.
func unicodeEscape(b []byte) (r rune, size int, why string) {
	hi, ok := hexRune(b, 2, 4)
	if !ok {
		return 0, 0, "want four hexadecimal digits after \\u"
	}
	switch {
	case hi >= 0xDC00 && hi <= 0xDFFF:
		return 0, 0, halfPair
	case hi < 0xD800 || hi > 0xDFFF:
		return hi, 6, ""
	}
	if len(b) < 8 || b[6] != '\\' || b[7] != 'u' {
		return 0, 0, halfPair
	}
	lo, ok := hexRune(b, 8, 4)
	if !ok || lo < 0xDC00 || lo > 0xDFFF {
		return 0, 0, halfPair
	}
	return (hi-0xD800)<<10 | (lo - 0xDC00) + 0x10000, 12, ""
}

// HexFour reads the four digits of an escape \uXXXX that b begins with.
func HexFour(b []byte) (rune, bool) { return hexRune(b, 2, 4) }

// hexRune reads n hexadecimal digits of b from i.
func hexRune(b []byte, i, n int) (rune, bool) {
	if len(b) < i+n {
		return 0, false
	}
	var r rune
	for _, c := range b[i : i+n] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		if r > utf8.MaxRune { // only \U of YAML has so many digits
			return r, true
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
