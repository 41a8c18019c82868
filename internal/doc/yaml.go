package doc

import "strings"

// ParseYAML reads one YAML document: the part of YAML 1.2 with the core schema
// that means the same to every reader. Block and flow collections, plain,
// quoted, literal and folded scalars, comments and document markers are there;
// anchors, aliases, merge keys, tags, directives, complex keys, tabs as
// indentation, numbers that begin with 0 and several documents are errors. The
// bounds are those of JSON.
func ParseYAML(name string, b []byte) (n *Node, err error) {
	if err := Check(name, b); err != nil {
		return nil, err
	}
	defer refused(&n, &err)
	p := yamlReader{yamlText: yamlText{name: name, b: b, s: string(b)}}
	p.checkPrintable()
	return located(b, p.document()), nil
}

// yamlText is a document and where a reader stands in it.
type yamlText struct {
	name string
	b    []byte
	s    string // b again: what a node holds is a piece of it
	i    int    // where it reads
	bol  int    // beginning of the line that i is on
}

// fail ends the reading: ParseYAML returns the error.
func (p *yamlText) fail(off int, why string, help ...string) {
	panic(&Error{Name: p.name, Pos: PosAt(p.b, off), Why: why, Help: strings.Join(help, "")})
}

func (p *yamlText) failTab(off int) { p.fail(off, "a tab in the indentation", "indent with spaces") }

func (p *yamlText) checkPrintable() {
	for i, r := range p.s {
		switch {
		case r >= ' ' && r < 0x7F || r == '\t' || r == '\n' || r == '\r':
		case r < ' ' || r == 0x7F:
			p.fail(i, "a control character; in double quotes it can be written as an escape")
		case r < 0xA0, r == 0x2028, r == 0x2029, r == 0xFEFF, r == 0xFFFE, r == 0xFFFF:
			// U+0085, U+2028 and U+2029 end a line in YAML 1.1 and not in 1.2.
			p.fail(i, "an invisible character; in double quotes it can be written as an escape")
		}
	}
}

// next goes to the next content, over blanks, comments and ends of lines.
// Blanks before content on a new line are its indentation: spaces only.
func (p *yamlText) next() (crossed bool) {
	for {
		start := p.i
		tab := p.white()
		if p.at('#') && (p.i > start || p.i == p.bol) {
			p.line()
		}
		switch {
		case p.i == len(p.b):
			return crossed
		case !p.eol():
			if tab >= 0 && start == p.bol {
				p.failTab(tab)
			}
			return crossed
		}
		p.newline()
		crossed = true
	}
}

// white skips spaces and tabs on the line; tab is where a tab is, or -1.
func (p *yamlText) white() (tab int) {
	tab = -1
	for ; p.i < len(p.b) && isWhite(p.b[p.i]); p.i++ {
		if p.b[p.i] == '\t' && tab < 0 {
			tab = p.i
		}
	}
	return tab
}

// line goes to the end of the line, and is what stands before it.
func (p *yamlText) line() string {
	start := p.i
	for !p.eol() {
		p.i++
	}
	return p.s[start:p.i]
}

// lineEnd skips a comment; anything else left on the line is an error.
func (p *yamlText) lineEnd() {
	start := p.i
	p.white()
	if p.at('#') && p.i > start {
		p.line()
	}
	if !p.eol() {
		p.fail(p.i, "want the end of the line, got "+quoteAt(p.b, p.i))
	}
}

func (p *yamlText) newline() {
	if p.b[p.i] == '\r' && p.i+1 < len(p.b) && p.b[p.i+1] == '\n' {
		p.i++
	}
	p.i++
	p.bol = p.i
}

func isWhite(c byte) bool { return c == ' ' || c == '\t' }
func isBreak(c byte) bool { return c == '\n' || c == '\r' }
func isFlow(c byte) bool  { return c == '[' || c == ']' || c == '{' || c == '}' || c == ',' }

// trimmed is text without the blanks at its end.
func trimmed(s string) string {
	for s != "" && isWhite(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

func (p *yamlText) at(c byte) bool { return p.i < len(p.b) && p.b[p.i] == c }
func (p *yamlText) eol() bool      { return p.i == len(p.b) || isBreak(p.b[p.i]) }

// blankAt tells whether a blank, an end of line or the end stands at i, or a sign of
// flow collections inside one.
func (p *yamlText) blankAt(i int, flow bool) bool {
	return i >= len(p.b) || isWhite(p.b[i]) || isBreak(p.b[i]) || flow && isFlow(p.b[i])
}

// indicator tells whether c stands here as an indicator: before a blank.
func (p *yamlText) indicator(c byte) bool { return p.at(c) && p.blankAt(p.i+1, false) }

// marker tells whether "---" or "..." stands here, alone at the line's start.
func (p *yamlText) marker(text string) bool {
	return p.i == p.bol && strings.HasPrefix(p.s[p.i:], text) && p.blankAt(p.i+3, false)
}

// ended tells whether the document is over.
func (p *yamlText) ended() bool { return p.i == len(p.b) || p.marker("---") || p.marker("...") }
