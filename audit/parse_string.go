package audit

import (
	"strconv"
	"unicode/utf8"
)

// string reads a string, the quote at which it begins included.
func (p *reader) string() (string, error) {
	p.i++
	var out []byte
	for p.i < len(p.b) {
		c := p.b[p.i]
		switch {
		case c == '"':
			p.i++
			return string(out), nil
		case c < ' ':
			return "", p.fail("a control character in a string")
		case c == '\\':
			r, err := p.escape()
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, r)
		case c < utf8.RuneSelf:
			out = append(out, c)
			p.i++
		default:
			r, size := utf8.DecodeRune(p.b[p.i:])
			out = utf8.AppendRune(out, r)
			p.i += size
		}
	}
	return "", p.fail("a string without an end")
}

func (p *reader) escape() (rune, error) {
	p.i++
	c := p.peek()
	p.i++
	switch c {
	case '"', '\\', '/':
		return rune(c), nil
	case 'b':
		return '\b', nil
	case 'f':
		return '\f', nil
	case 'n':
		return '\n', nil
	case 'r':
		return '\r', nil
	case 't':
		return '\t', nil
	case 'u':
		return p.unicode()
	}
	p.i--
	return 0, p.fail("no such escape")
}

// unicode reads the four digits of \u, and those of a pair's second half.
func (p *reader) unicode() (rune, error) {
	r, ok := p.hex4()
	if !ok {
		return 0, p.fail("no four hex digits")
	}
	if r < 0xd800 || r > 0xdfff {
		return r, nil
	}
	if r >= 0xdc00 || p.peek() != '\\' || p.i+1 >= len(p.b) || p.b[p.i+1] != 'u' {
		return utf8.RuneError, nil
	}
	at := p.i
	p.i += 2
	low, ok := p.hex4()
	if !ok || low < 0xdc00 || low > 0xdfff {
		p.i = at
		return utf8.RuneError, nil
	}
	return 0x10000 + (r-0xd800)<<10 + (low - 0xdc00), nil
}

func (p *reader) hex4() (rune, bool) {
	if len(p.b)-p.i < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(p.b[p.i:p.i+4]), 16, 32)
	if err != nil {
		return 0, false
	}
	p.i += 4
	return rune(n), true
}
