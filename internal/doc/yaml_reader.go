package doc

import "strings"

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

func isFlow(c byte) bool { return c == '[' || c == ']' || c == '{' || c == '}' || c == ',' }

// trimmed is text without the blanks at its end.
func trimmed(s string) string {
	for s != "" && isWhite(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

func (p *yamlText) at(c byte) bool { return p.i < len(p.b) && p.b[p.i] == c }

func (p *yamlText) eol() bool { return p.i == len(p.b) || isBreak(p.b[p.i]) }

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

// yamlReader reads downwards, one function a kind of node. Between nodes it
// stands on the next content or on the end of a line.
type yamlReader struct {
	yamlText
	slab  slab
	depth int
}

// node is the next value.
func (p *yamlReader) node(k Kind, off int, text string) *Node {
	if p.slab.count == maxValues {
		p.fail(off, tooMany)
	}
	return p.slab.node(k, off, text)
}

// open is the next list or object, which begins here; who ends it takes the level back.
func (p *yamlReader) open(k Kind) *Node {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.i, "nested more than 32 deep")
	}
	return p.node(k, p.i, "")
}

// once refuses a key that an object has already.
func (p *yamlReader) once(keys *keySet, n *Node, key string, at int) {
	if keys.add(n.Members, key) {
		p.fail(at, twice(key))
	}
}

// oneLine refuses a key that does not end on the line that it began on.
func (p *yamlReader) oneLine(start, line int) {
	if p.bol != line {
		p.fail(start, "a key must stand on one line")
	}
}
