package doc

import "unicode/utf8"

// ParseYAML reads one YAML document: the part of YAML 1.2 with the core schema
// that means the same to every reader. Block and flow collections, plain,
// quoted, literal and folded scalars, comments and document markers are there;
// anchors, aliases, merge keys, tags, directives, complex keys, tabs as
// indentation, numbers that begin with 0 and several documents are errors. The
// bounds are those of JSON.
func ParseYAML(name string, b []byte) (*Node, error) {
	if err := Check(name, b); err != nil {
		return nil, err
	}
	p := yamlReader{name: name, b: b, s: string(b)}
	if err := p.checkPrintable(); err != nil {
		return nil, err
	}
	n, err := p.document()
	if err != nil {
		return nil, err
	}
	l := newLocator(b)
	l.locate(n)
	return n, nil
}

// yamlReader reads downwards, one function a kind of node. Between nodes it
// stands on the next content or on the end of a line.
type yamlReader struct {
	name string
	b    []byte
	s    string // b again: what a node holds is a piece of it
	i    int    // where it reads
	bol  int    // beginning of the line that i is on
	slab slab
}

func (p *yamlReader) fail(off int, why string) *Error {
	return ErrorAt(p.name, p.b, off, why)
}

func (p *yamlReader) failHelp(off int, why, help string) *Error {
	err := ErrorAt(p.name, p.b, off, why)
	err.Help = help
	return err
}

func (p *yamlReader) checkPrintable() error {
	for i := 0; i < len(p.b); {
		c := p.b[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7F {
				return p.fail(i, "a control character; in double quotes it can be written as an escape")
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(p.b[i:])
		switch {
		case r < 0xA0, r == 0x2028, r == 0x2029, r == 0xFEFF, r == 0xFFFE, r == 0xFFFF:
			// U+0085, U+2028 and U+2029 end a line in YAML 1.1 and not in 1.2.
			return p.fail(i, "an invisible character; in double quotes it can be written as an escape")
		}
		i += size
	}
	return nil
}

func (p *yamlReader) document() (*Node, error) {
	if _, err := p.next(); err != nil {
		return nil, err
	}
	if p.i < len(p.b) && p.b[p.i] == '%' && p.i == p.bol {
		return nil, p.fail(p.i, "directives are not supported")
	}
	from := atLineStart
	if p.marker('-') {
		p.i += 3
		from = afterMarker
	}
	n, err := p.value(-1, from, 0)
	if err != nil {
		return nil, err
	}
	if n.Kind == Null && n.Text == "" && p.ended() {
		return nil, &Error{Name: p.name, Why: "empty document"}
	}
	if _, err := p.next(); err != nil {
		return nil, err
	}
	if p.marker('.') {
		p.i += 3
		if err := p.lineEnd(); err != nil {
			return nil, err
		}
		if _, err := p.next(); err != nil {
			return nil, err
		}
		if p.i < len(p.b) {
			return nil, p.fail(p.i, "more than one document")
		}
	}
	switch {
	case p.marker('-'):
		return nil, p.fail(p.i, "more than one document")
	case p.i < len(p.b):
		return nil, p.fail(p.i, "the indentation fits nothing above")
	}
	return n, nil
}

// next goes to the next content, over blanks, comments and ends of lines.
// Blanks before content on a new line are its indentation: spaces only.
func (p *yamlReader) next() (crossed bool, err error) {
	for {
		start := p.i
		tab := p.white()
		if p.at('#') && (p.i > start || p.i == p.bol) {
			for !p.eol() {
				p.i++
			}
		}
		if p.i == len(p.b) {
			return crossed, nil
		}
		if !p.eol() {
			if tab >= 0 && start == p.bol {
				return crossed, p.failTab(tab)
			}
			return crossed, nil
		}
		p.newline()
		crossed = true
	}
}

func (p *yamlReader) failTab(off int) error {
	return p.failHelp(off, "a tab in the indentation", "indent with spaces")
}

// white skips spaces and tabs on the line; tab is where a tab is, or -1.
func (p *yamlReader) white() (tab int) {
	tab = -1
	for p.i < len(p.b) && isWhite(p.b[p.i]) {
		if p.b[p.i] == '\t' && tab < 0 {
			tab = p.i
		}
		p.i++
	}
	return tab
}

// lineEnd skips a comment; anything else left on the line is an error.
func (p *yamlReader) lineEnd() error {
	start := p.i
	p.white()
	if p.at('#') && p.i > start {
		for !p.eol() {
			p.i++
		}
	}
	if p.eol() {
		return nil
	}
	return p.fail(p.i, "want the end of the line, got "+quoteAt(p.b, p.i))
}

func (p *yamlReader) newline() {
	if p.b[p.i] == '\r' && p.i+1 < len(p.b) && p.b[p.i+1] == '\n' {
		p.i++
	}
	p.i++
	p.bol = p.i
}

func isWhite(c byte) bool { return c == ' ' || c == '\t' }
func isBreak(c byte) bool { return c == '\n' || c == '\r' }

func (p *yamlReader) at(c byte) bool { return p.i < len(p.b) && p.b[p.i] == c }
func (p *yamlReader) eol() bool      { return p.i == len(p.b) || isBreak(p.b[p.i]) }

// blankAt tells whether a blank, an end of line or the end stands at i.
func (p *yamlReader) blankAt(i int) bool {
	return i >= len(p.b) || isWhite(p.b[i]) || isBreak(p.b[i])
}

// indicator tells whether c stands here as an indicator: before a blank.
func (p *yamlReader) indicator(c byte) bool { return p.at(c) && p.blankAt(p.i+1) }

// marker tells whether "---" or "..." stands here, alone at the line's start.
func (p *yamlReader) marker(c byte) bool {
	return p.i == p.bol && p.i+3 <= len(p.b) && p.b[p.i] == c && p.b[p.i+1] == c &&
		p.b[p.i+2] == c && p.blankAt(p.i+3)
}

// ended tells whether the document is over.
func (p *yamlReader) ended() bool { return p.i == len(p.b) || p.marker('-') || p.marker('.') }
