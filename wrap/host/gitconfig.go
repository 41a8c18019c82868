package host

import "strings"

// maxVars bounds the variables of one file that are looked at.
const maxVars = 20000

// gitVar is one variable of a git configuration: Section and Key in lower case,
// Sub as written. A key without "=" has Bare set, and means true.
type gitVar struct {
	Section, Sub, Key, Value string
	Bare                     bool
}

// gitParser reads the syntax of git-config(1), "CONFIGURATION FILE", as
// config.c of git does. Where git gives up on a line, the parser goes on with
// the next: what it then finds is protected in vain, which harms nobody.
type gitParser struct {
	text string
	at   int
	bad  bool // a line was not understood; git refuses the whole file
}

// parseGitConfig calls each for every variable, in order. It tells whether git
// would accept the file.
func parseGitConfig(text string, each func(gitVar)) (ok bool) {
	p := gitParser{text: strings.TrimPrefix(text, "\xef\xbb\xbf")}
	section := ""
	for n := 0; n < maxVars; {
		c := p.next()
		switch {
		case c == end:
			return !p.bad
		case c == '\n' || isGitSpace(c):
		case c == '#' || c == ';':
			p.skipLine(c)
		case c == '[':
			name, ok := p.section()
			if !ok {
				p.fail()
				continue
			}
			section = name
		case isLetter(c):
			n++
			v, ok := p.variable(c)
			if !ok {
				p.fail()
				continue
			}
			v.Section, v.Sub = splitSection(section)
			each(v)
		default:
			p.fail()
		}
	}
	return false
}

// end is what next returns at the end of the text.
const end = -1

// next is the next byte; a carriage return before a newline is left out.
func (p *gitParser) next() int {
	if p.at >= len(p.text) {
		return end
	}
	c := p.text[p.at]
	p.at++
	if c == '\r' && p.at < len(p.text) && p.text[p.at] == '\n' {
		p.at++
		return '\n'
	}
	return int(c)
}

// fail goes on after the end of a line that is not understood.
func (p *gitParser) fail() {
	p.bad = true
	if p.at > 0 && p.text[p.at-1] == '\n' {
		return
	}
	p.skipLine(0)
}

func (p *gitParser) skipLine(c int) {
	for c != '\n' && c != end {
		c = p.next()
	}
}

// section reads the rest of [name], [name "sub"] or [name.sub], and returns
// it with a point between the parts.
func (p *gitParser) section() (string, bool) {
	var name []byte
	for {
		c := p.next()
		switch {
		case c == ']':
			return string(name), len(name) > 0
		case c == '\n' || isGitSpace(c):
			return p.subsection(append(name, '.'), c)
		case c == end || !isKeyByte(c) && c != '.':
			return "", false
		}
		name = append(name, lower(c))
	}
}

// subsection reads "sub"] after the space c. In it a backslash stands for the
// byte after it, whatever that is.
func (p *gitParser) subsection(name []byte, c int) (string, bool) {
	for c != '"' {
		if c == '\n' || c == end || !isGitSpace(c) {
			return "", false
		}
		c = p.next()
	}
	for {
		c = p.next()
		if c == '"' {
			return string(name), p.next() == ']'
		}
		if c == '\\' {
			c = p.next()
		}
		if c == '\n' || c == end {
			return "", false
		}
		name = append(name, byte(c))
	}
}

// variable reads the rest of "key" or "key = value", whose first letter is c.
func (p *gitParser) variable(c int) (v gitVar, ok bool) {
	key := []byte{lower(c)}
	for c = p.next(); c != end && isKeyByte(c); c = p.next() {
		key = append(key, lower(c))
	}
	v.Key = string(key)
	for c == ' ' || c == '\t' {
		c = p.next()
	}
	if c == '\n' || c == end {
		v.Bare = true
		return v, true
	}
	if c != '=' {
		return v, false
	}
	v.Value, ok = p.value()
	return v, ok
}

// value reads to the end of the line: space around it and comments go, quotes
// and backslashes are undone, a backslash before the newline goes on with the
// next line.
func (p *gitParser) value() (string, bool) {
	var b []byte
	keep := 0 // b up to its last byte that is no trailing space
	quoted := false
	for {
		c := p.next()
		switch {
		case c == '\n' || c == end:
			return cString(b[:keep]), !quoted
		case !quoted && isGitSpace(c):
			if len(b) > 0 {
				b = append(b, byte(c))
			}
			continue
		case !quoted && (c == '#' || c == ';'):
			p.skipLine(c)
			return cString(b[:keep]), true
		case c == '"':
			quoted = !quoted
			keep = len(b)
			continue
		case c == '\\':
			esc, more, ok := p.escape()
			if !ok {
				return "", false
			}
			if !more {
				b = append(b, esc)
			}
		default:
			b = append(b, byte(c))
		}
		keep = len(b)
	}
}

// escape reads what follows a backslash; more means the value goes on in the
// next line.
func (p *gitParser) escape() (c byte, more, ok bool) {
	switch p.next() {
	case '\n', end:
		return 0, true, true
	case 't':
		return '\t', false, true
	case 'b':
		return '\b', false, true
	case 'n':
		return '\n', false, true
	case '\\':
		return '\\', false, true
	case '"':
		return '"', false, true
	}
	return 0, false, false
}

// cString is what C sees of b.
func cString(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}

// splitSection parts a section's name at its first point.
func splitSection(name string) (section, sub string) {
	section, sub, _ = strings.Cut(name, ".")
	return section, sub
}

func isGitSpace(c int) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isLetter(c int) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isKeyByte(c int) bool { return isLetter(c) || c >= '0' && c <= '9' || c == '-' }

func lower(c int) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return byte(c)
}
