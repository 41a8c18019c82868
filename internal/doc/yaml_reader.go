package doc

import "strings"

// yamlText is a document with the current position of its reader.
type yamlText struct {
	name string
	b    []byte
	s    string // the same as b: the nodes' texts share its memory
	i    int    // the current position
	bol  int    // the beginning of the line of i
}

// fail ends the reading: it panics with an Error, which ParseYAML returns.
func (p *yamlText) fail(off int, why string, help ...string) {
	panic(&Error{Name: p.name, Pos: PosAt(p.b, off), Why: why, Help: strings.Join(help, "")})
}

func (p *yamlText) failTab(off int) { p.fail(off, "a tab in the indentation", "indent with spaces") }

// next skips blanks, comments and line breaks up to the next content, and reports whether it
// crossed a line break. The blanks before content on a new line are its indentation, in which
// tabs are an error.
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

// white skips spaces and tabs on the line; tab is the place of the first tab, or -1.
func (p *yamlText) white() (tab int) {
	tab = -1
	for ; p.i < len(p.b) && isWhite(p.b[p.i]); p.i++ {
		if p.b[p.i] == '\t' && tab < 0 {
			tab = p.i
		}
	}
	return tab
}

// line skips to the end of the line and returns the text up to there.
func (p *yamlText) line() string {
	start := p.i
	for !p.eol() {
		p.i++
	}
	return p.s[start:p.i]
}

// lineEnd skips to the end of the line; content other than a comment is an error.
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

// trimmed returns s without trailing blanks.
func trimmed(s string) string {
	for s != "" && isWhite(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

func (p *yamlText) at(c byte) bool { return p.i < len(p.b) && p.b[p.i] == c }

func (p *yamlText) eol() bool { return p.i == len(p.b) || isBreak(p.b[p.i]) }

// blankAt reports whether a blank, a line break or the end of the document is at i, or, inside
// a flow collection, one of its indicators.
func (p *yamlText) blankAt(i int, flow bool) bool {
	return i >= len(p.b) || isWhite(p.b[i]) || isBreak(p.b[i]) || flow && isFlow(p.b[i])
}

// indicator reports whether the indicator c is here: it needs a blank after it.
func (p *yamlText) indicator(c byte) bool { return p.at(c) && p.blankAt(p.i+1, false) }

// marker reports whether the marker text, "---" or "...", is here at the start of a line.
func (p *yamlText) marker(text string) bool {
	return p.i == p.bol && strings.HasPrefix(p.s[p.i:], text) && p.blankAt(p.i+3, false)
}

// ended reports whether the document ends here.
func (p *yamlText) ended() bool { return p.i == len(p.b) || p.marker("---") || p.marker("...") }

// yamlReader is a recursive-descent parser with a function for each kind of node. Between nodes
// its position is the next content or the end of a line.
type yamlReader struct {
	yamlText
	slab  slab
	depth int
}

// node returns a new node that begins at off.
func (p *yamlReader) node(k Kind, off int, text string) *Node {
	if p.slab.count == maxValues {
		p.fail(off, tooMany)
	}
	return p.slab.node(k, off, text)
}

// open returns a new list or object that begins here. The caller decrements depth at its end.
func (p *yamlReader) open(k Kind) *Node {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.i, "nested more than 32 deep")
	}
	return p.node(k, p.i, "")
}

// once rejects a key that the object n already has.
func (p *yamlReader) once(keys *keySet, n *Node, key string, at int) {
	if keys.add(n.Members, key) {
		p.fail(at, twice(key))
	}
}

// oneLine rejects a key that ends on another line than it began on.
func (p *yamlReader) oneLine(start, line int) {
	if p.bol != line {
		p.fail(start, "a key must stand on one line")
	}
}
