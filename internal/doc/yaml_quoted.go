package doc

import (
	"strings"
	"unicode/utf8"
)

// quoted reads a scalar in quotes inside a node indented by n.
func (p *yamlReader) quoted(n int) (string, error) {
	if p.b[p.i] == '"' {
		return p.doubleQuoted(n)
	}
	return p.singleQuoted(n)
}

func (p *yamlReader) singleQuoted(n int) (string, error) {
	open := p.i
	var s strings.Builder
	p.i++
	for p.i < len(p.b) {
		c := p.b[p.i]
		switch {
		case c != '\'' && !isBreak(c):
			p.plainRun(&s, '\'', '\'')
		case c == '\'' && p.i+1 < len(p.b) && p.b[p.i+1] == '\'':
			s.WriteByte('\'')
			p.i += 2
		case c == '\'':
			p.i++
			return s.String(), nil
		default:
			if err := p.foldQuoted(&s, n, open); err != nil {
				return "", err
			}
		}
	}
	return "", p.fail(open, "the string is not closed")
}

func (p *yamlReader) doubleQuoted(n int) (string, error) {
	open := p.i
	var s strings.Builder
	p.i++
	for p.i < len(p.b) {
		c := p.b[p.i]
		switch {
		case c == '"':
			p.i++
			return s.String(), nil
		case c == '\\':
			if err := p.escape(&s, n, open); err != nil {
				return "", err
			}
		case isBreak(c):
			if err := p.foldQuoted(&s, n, open); err != nil {
				return "", err
			}
		default:
			p.plainRun(&s, '"', '\\')
		}
	}
	return "", p.fail(open, "the string is not closed")
}

// plainRun copies text up to one of two characters or the end of the line;
// blanks before the end of the line are left out.
func (p *yamlReader) plainRun(s *strings.Builder, a, b byte) {
	start := p.i
	for p.i < len(p.b) && p.b[p.i] != a && p.b[p.i] != b && !isBreak(p.b[p.i]) {
		p.i++
	}
	end := p.i
	if p.eol() {
		for end > start && isWhite(p.b[end-1]) {
			end--
		}
	}
	s.Write(p.b[start:end])
}

// foldQuoted goes on to the next line of a quoted scalar.
func (p *yamlReader) foldQuoted(s *strings.Builder, n, open int) error {
	breaks, err := p.continued(n, true)
	if err != nil {
		return err
	}
	if breaks == 0 {
		return p.quotedStopped(n, open)
	}
	fold(s, breaks)
	return nil
}

func (p *yamlReader) quotedStopped(n, open int) error {
	if p.i == len(p.b) || p.ended() {
		return p.fail(open, "the string is not closed")
	}
	return p.fail(p.i, "this line of a string must be indented more, or the string is not closed")
}

func (p *yamlReader) escape(s *strings.Builder, n, open int) error {
	at := p.i
	p.i++
	if p.i == len(p.b) {
		return p.fail(open, "the string is not closed")
	}
	c := p.b[p.i]
	if r, ok := simpleEscape(c); ok {
		s.WriteRune(r)
		p.i++
		return nil
	}
	if isBreak(c) { // the line goes on; the break is not part of the string
		breaks, err := p.continued(n, true)
		if err != nil {
			return err
		}
		if breaks == 0 {
			return p.quotedStopped(n, open)
		}
		for ; breaks > 1; breaks-- {
			s.WriteByte('\n')
		}
		return nil
	}
	switch c {
	case 'x':
		return p.hexEscape(s, at, 2)
	case 'U':
		return p.hexEscape(s, at, 8)
	case 'u':
		r, size, why := UnicodeEscape(p.b[at:])
		if why != "" {
			return p.fail(at, why)
		}
		s.WriteRune(r)
		p.i = at + size
		return nil
	}
	return p.failHelp(at, "unknown escape in a string", "write a backslash as \\\\, or use single quotes")
}

func (p *yamlReader) hexEscape(s *strings.Builder, at, digits int) error {
	r, ok := hexRune(p.b[at+2:], digits)
	if !ok {
		return p.fail(at, "want hexadecimal digits in the escape")
	}
	if !utf8.ValidRune(r) {
		return p.fail(at, "the escape names no character")
	}
	s.WriteRune(r)
	p.i = at + 2 + digits
	return nil
}

// simpleEscape is the character that a one-letter escape stands for
// (YAML 1.2, 5.7).
func simpleEscape(c byte) (rune, bool) {
	switch c {
	case '0':
		return 0, true
	case 'a':
		return '\a', true
	case 'b':
		return '\b', true
	case 't', '\t':
		return '\t', true
	case 'n':
		return '\n', true
	case 'v':
		return '\v', true
	case 'f':
		return '\f', true
	case 'r':
		return '\r', true
	case 'e':
		return 0x1B, true
	case ' ', '"', '/', '\\':
		return rune(c), true
	case 'N':
		return 0x85, true
	case '_':
		return 0xA0, true
	case 'L':
		return 0x2028, true
	case 'P':
		return 0x2029, true
	}
	return 0, false
}
