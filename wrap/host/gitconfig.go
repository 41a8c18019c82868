package host

import "strings"

// maxVars bounds the number of variables that are read from one file.
const maxVars = 20000

// gitVar is one variable of a git configuration: Section and Key in lower case, Sub as
// written. Bare is set for a key without "=", which means true.
type gitVar struct {
	Section, Sub, Key, Value string
	Bare                     bool
}

// gitParser reads the syntax of git-config(1), "CONFIGURATION FILE", like git's config.c. If git
// rejects a line, the parser continues with the next one: the variables that it then finds are
// protected needlessly, which does no harm.
type gitParser struct {
	text string
	at   int
	bad  bool // a line was not understood; git rejects the whole file
}

// parseGitConfig calls each for every variable, in order. It reports whether git would
// accept the file.
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

// end is the result of next at the end of the text.
const end = -1

// next returns the next byte; it skips a carriage return before a newline.
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

// fail marks the file as bad and skips the rest of a line that git would reject.
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

// section reads the rest of [name], [name "sub"] or [name.sub], and returns the parts with a
// dot between them.
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

// subsection reads "sub"] after the space c. A backslash quotes any byte that follows it.
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

// value reads to the end of the line: it drops surrounding space and comments, decodes quotes
// and escapes, and continues on the next line after a backslash.
func (p *gitParser) value() (string, bool) {
	var b []byte
	keep := 0 // length of b without trailing space
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

// escape decodes the byte after a backslash; more means that the value continues on the next
// line.
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

// cString returns b up to its first NUL, as C code would see it.
func cString(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}

// splitSection splits a section's name at its first dot.
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
