package doc

import "unicode/utf8"

// place says what precedes a value on its line, which decides whether a block collection may
// begin there.
type place uint8

const (
	atLineStart place = iota // alone on its line
	afterMarker              // on the line of "---"
	afterDash                // on the line of its "-"
	afterKey                 // on the line of its "key:"
)

// value reads the value after an indicator ("-", "key:", "---") of a node indented by n.
func (p *yamlReader) value(n int, from place) *Node {
	start := p.i
	crossed := p.next()
	col := p.i - p.bol
	switch {
	case p.ended():
	case !crossed:
		return p.blockNode(n, from)
	case col > n:
		return p.blockNode(n, atLineStart)
	case from == afterKey && col == n && p.indicator('-'):
		return p.sequence() // a list may have the indentation of its key
	}
	return p.node(Null, start, "")
}

func (p *yamlReader) blockNode(n int, from place) *Node {
	start := p.i
	switch c := p.b[p.i]; {
	case p.indicator('-'):
		p.mayBegin(from, "a list")
		return p.sequence()
	case c == '|' || c == '>':
		return p.blockScalar(n)
	case c == '[' || c == '{':
		node := p.flow(n)
		end := p.i
		if p.white(); p.indicator(':') {
			p.fail(start, "a list or an object cannot be a key")
		}
		p.i = end // lineEnd needs the blank before a comment
		p.lineEnd()
		return node
	case c == '"' || c == '\'':
		line := p.bol
		text := p.quoted(n)
		end := p.i
		if p.white(); p.indicator(':') {
			p.oneLine(start, line)
			p.i = start
			return p.mapping(from)
		}
		p.i = end
		p.lineEnd()
		return p.node(String, start, text)
	}
	p.plainFirst(false)
	if _, stop := p.plainLine(false); stop == ':' {
		return p.mapping(from)
	}
	return p.plain(n, false)
}

// mayBegin rejects a block collection here if none may begin after from.
func (p *yamlReader) mayBegin(from place, what string) {
	switch from {
	case afterMarker:
		p.fail(p.i, what+" cannot begin on the line of ---")
	case afterKey:
		p.fail(p.i, what+" cannot begin on the line of its key", "begin it on the next line, indented, or put the value in quotes")
	case afterDash:
		for i := p.i - 1; isWhite(p.b[i]); i-- { // back to the dash
			if p.b[i] == '\t' {
				p.failTab(i)
			}
		}
	}
}

func (p *yamlReader) mapping(from place) *Node {
	p.mayBegin(from, "an object")
	col, n, keys := p.i-p.bol, p.open(Object), keySet{}
	for {
		at := p.i
		key := p.key(col)
		p.once(&keys, n, key, at)
		n.Members = append(n.Members, Member{Key: key, KeyPos: offset(at), Value: p.value(col, afterKey)})
		if !p.sameColumn(col) {
			p.depth--
			return n
		}
	}
}

func (p *yamlReader) sequence() *Node {
	col, n := p.i-p.bol, p.open(List)
	for {
		p.i++ // -
		n.Items = append(n.Items, p.value(col, afterDash))
		if !p.sameColumn(col) || !p.indicator('-') { // or a key of the mapping that this list belongs to
			p.depth--
			return n
		}
	}
}

// sameColumn skips to the next content and reports whether it belongs to the collection at
// col.
func (p *yamlReader) sameColumn(col int) bool {
	p.next()
	if !p.ended() && p.i-p.bol > col {
		p.fail(p.i, "the indentation fits nothing above")
	}
	return !p.ended() && p.i-p.bol == col
}

// maxKey is the maximal length of a key on the line of its value (YAML 1.2, 7.4.3).
const maxKey = 1024

// key reads a key and its colon in a mapping at col.
func (p *yamlReader) key(col int) (key string) {
	start, line := p.i, p.bol
	switch c := p.b[p.i]; {
	case c == '"' || c == '\'':
		key = p.quoted(col)
		p.oneLine(start, line)
	case p.indicator('-'):
		p.fail(start, "want a key, got an item of a list")
	case c == '[' || c == '{' || c == '|' || c == '>':
		p.fail(start, "want a key, got "+quoteAt(p.b, start))
	default:
		key = p.plainKey(false)
	}
	if utf8.RuneCount(p.b[start:p.i]) > maxKey {
		p.fail(start, "a key of more than 1024 characters")
	}
	if p.white(); !p.indicator(':') {
		p.fail(start, "want a key, a colon and a blank, as in \"key: value\"")
	}
	p.i++
	return key
}
