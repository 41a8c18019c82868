package doc

import "unicode/utf8"

// yamlReader reads downwards, one function a kind of node. Between nodes it
// stands on the next content or on the end of a line.
type yamlReader struct {
	yamlText
	slab  slab
	depth int
}

// place is where a value stands: it decides whether a block collection may
// begin there.
type place uint8

const (
	atLineStart place = iota // alone on its line
	afterMarker              // on the line of "---"
	afterDash                // on the line of its "-"
	afterKey                 // on the line of its "key:"
)

func (p *yamlReader) document() *Node {
	p.next()
	if p.at('%') && p.i == p.bol {
		p.fail(p.i, "directives are not supported")
	}
	from := atLineStart
	if p.marker("---") {
		p.i += 3
		from = afterMarker
	}
	n := p.value(-1, from)
	if n.Kind == Null && n.Text == "" && p.ended() {
		panic(&Error{Name: p.name, Why: "empty document"})
	}
	p.next()
	end := p.marker("...")
	if end {
		p.i += 3
		p.lineEnd()
		p.next()
	}
	switch {
	case p.i < len(p.b) && (end || p.marker("---")):
		p.fail(p.i, "more than one document")
	case p.i < len(p.b):
		p.fail(p.i, "the indentation fits nothing above")
	}
	return n
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

// value reads what follows an indicator of a node indented by n.
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
		return p.sequence() // it may stand as far left as the key that it belongs to
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
		p.i = end // a comment is one only behind a blank
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

// mayBegin refuses a block collection where p stands, if none may begin there.
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

// once refuses a key that an object has already.
func (p *yamlReader) once(keys *keySet, n *Node, key string, at int) {
	if keys.add(n.Members, key) {
		p.fail(at, twice(key))
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

// sameColumn goes to the next content and tells whether it belongs to the
// collection at col.
func (p *yamlReader) sameColumn(col int) bool {
	p.next()
	if !p.ended() && p.i-p.bol > col {
		p.fail(p.i, "the indentation fits nothing above")
	}
	return !p.ended() && p.i-p.bol == col
}

// maxKey is how long a key on the line of its value may be (YAML 1.2, 7.4.3).
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

// oneLine refuses a key that does not end on the line that it began on.
func (p *yamlReader) oneLine(start, line int) {
	if p.bol != line {
		p.fail(start, "a key must stand on one line")
	}
}

// plainKey reads a key without quotes; p then stands behind it.
func (p *yamlReader) plainKey(flow bool) string {
	start := p.i
	p.plainFirst(flow)
	key, _ := p.plainLine(flow)
	if key == "<<" {
		p.fail(start, "merge keys are not supported")
	}
	if kind, _, why := coreScalar(key); kind != String || why != "" {
		p.fail(start, "a key must be a string, got "+kind.String(), "put it in quotes: "+Quote(Cut(key)))
	}
	p.i += len(key)
	return key
}
