package doc

import (
	"strings"
	"unicode/utf8"
)

// quoted reads a scalar in quotes inside a node indented by n.
func (p *yamlReader) quoted(n int) string {
	open, quote, stops := p.i, p.b[p.i], "'\r\n"
	if quote == '"' {
		stops = "\"\\\r\n"
	}
	var s strings.Builder
	for p.i++; p.i < len(p.b); {
		switch c := p.b[p.i]; {
		case isBreak(c):
			s.WriteString(fold(p.quotedMore(n, open)))
		case c == '\\' && quote == '"':
			p.escape(&s, n, open)
		case c != quote:
			text := p.s[p.i:]
			if end := strings.IndexAny(text, stops); end >= 0 {
				text = text[:end]
			}
			if p.i += len(text); p.eol() { // blanks before a line break do not count
				text = trimmed(text)
			}
			s.WriteString(text)
		case quote == '\'' && strings.HasPrefix(p.s[p.i:], "''"):
			s.WriteByte('\'')
			p.i += 2
		default:
			p.i++
			return s.String()
		}
	}
	p.fail(open, "the string is not closed")
	return ""
}

// quotedMore skips to the next line of a quoted scalar and returns the number of line breaks.
func (p *yamlReader) quotedMore(n, open int) int {
	breaks := p.continued(n, true)
	switch {
	case breaks > 0:
	case p.ended():
		p.fail(open, "the string is not closed")
	default:
		p.fail(p.i, "this line of a string must be indented more, or the string is not closed")
	}
	return breaks
}

// escape reads an escape of a string that began at open (YAML 1.2, 5.7).
func (p *yamlReader) escape(s *strings.Builder, n, open int) {
	at := p.i
	if p.i++; p.i == len(p.b) {
		p.fail(open, "the string is not closed")
	}
	c := p.b[p.i]
	if i := strings.IndexByte("0abt\tnvfre \"/\\N_LP", c); i >= 0 {
		p.i++
		s.WriteRune([...]rune{0, '\a', '\b', '\t', '\t', '\n', '\v', '\f', '\r', 0x1B, ' ', '"', '/', '\\', 0x85, 0xA0, 0x2028, 0x2029}[i])
		return
	}
	switch {
	case isBreak(c): // an escaped line break is not part of the string
		s.WriteString(strings.Repeat("\n", p.quotedMore(n, open)-1))
	case c == 'x':
		p.hexEscape(s, at, 2)
	case c == 'U':
		p.hexEscape(s, at, 8)
	case c == 'u':
		r, size, why := UnicodeEscape(p.b[at:])
		if why != "" {
			p.fail(at, why)
		}
		s.WriteRune(r)
		p.i = at + size
	default:
		p.fail(at, "unknown escape in a string", "write a backslash as \\\\, or use single quotes")
	}
}

func (p *yamlReader) hexEscape(s *strings.Builder, at, digits int) {
	r, ok := hexRune(p.b[at+2:], digits)
	if !ok {
		p.fail(at, "want hexadecimal digits in the escape")
	}
	if !utf8.ValidRune(r) {
		p.fail(at, "the escape names no character")
	}
	s.WriteRune(r)
	p.i = at + 2 + digits
}
