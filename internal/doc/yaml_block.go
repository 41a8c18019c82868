package doc

import "unicode/utf8"

// place is where a value stands: it decides whether a block collection may
// begin there.
type place uint8

const (
	atLineStart place = iota // alone on its line
	afterMarker              // on the line of "---"
	afterDash                // on the line of its "-"
	afterKey                 // on the line of its "key:"
)

// value reads what follows an indicator of a node indented by n.
func (p *yamlReader) value(n int, from place, depth int) (*Node, error) {
	start := p.i
	if p.slab.count >= maxValues {
		return nil, p.fail(start, tooMany)
	}
	crossed, err := p.next()
	if err != nil {
		return nil, err
	}
	if p.ended() {
		return p.slab.node(Null, start), nil
	}
	col := p.i - p.bol
	if !crossed {
		return p.blockNode(n, from, depth)
	}
	if col > n {
		return p.blockNode(n, atLineStart, depth)
	}
	// A list may stand as far left as the key that it belongs to.
	if from == afterKey && col == n && p.indicator('-') {
		return p.sequence(col, depth+1)
	}
	return p.slab.node(Null, start), nil
}

func (p *yamlReader) blockNode(n int, from place, depth int) (*Node, error) {
	start, col := p.i, p.i-p.bol
	switch c := p.b[p.i]; {
	case p.indicator('-'):
		if err := p.mayBegin(from, "a list"); err != nil {
			return nil, err
		}
		return p.sequence(col, depth+1)
	case c == '|' || c == '>':
		return p.blockScalar(n)
	case c == '[' || c == '{':
		node, err := p.flow(n, depth)
		if err != nil {
			return nil, err
		}
		end := p.i
		p.white()
		if p.indicator(':') {
			return nil, p.fail(start, "a list or an object cannot be a key")
		}
		p.i = end // a comment is one only behind a blank
		return node, p.lineEnd()
	case c == '"' || c == '\'':
		line := p.bol
		s, err := p.quoted(n)
		if err != nil {
			return nil, err
		}
		end := p.i
		p.white()
		if p.indicator(':') {
			if p.bol != line {
				return nil, p.fail(start, "a key must stand on one line")
			}
			return p.mappingAt(start, from, depth)
		}
		p.i = end
		node := p.slab.node(String, start)
		node.Text = s
		return node, p.lineEnd()
	}
	if err := p.plainFirst(false); err != nil {
		return nil, err
	}
	if _, stop := p.plainLine(p.i, false); stop == ':' {
		return p.mappingAt(start, from, depth)
	}
	return p.plain(n, false)
}

// mayBegin tells whether a block collection may begin where p stands.
func (p *yamlReader) mayBegin(from place, what string) error {
	switch {
	case from == afterMarker:
		return p.fail(p.i, what+" cannot begin on the line of ---")
	case from == afterKey:
		return p.failHelp(p.i, what+" cannot begin on the line of its key", "begin it on the next line, indented, or put the value in quotes")
	case from == afterDash:
		for i := p.i - 1; isWhite(p.b[i]); i-- { // back to the dash
			if p.b[i] == '\t' {
				return p.failTab(i)
			}
		}
	}
	return nil
}

// mappingAt reads the mapping whose first key begins at start.
func (p *yamlReader) mappingAt(start int, from place, depth int) (*Node, error) {
	p.i = start
	if err := p.mayBegin(from, "an object"); err != nil {
		return nil, err
	}
	return p.mapping(start-p.bol, depth+1)
}

func (p *yamlReader) mapping(col, depth int) (*Node, error) {
	if depth > maxDepth {
		return nil, p.fail(p.i, "nested more than 32 deep")
	}
	n := p.slab.node(Object, p.i)
	var keys keySet
	for {
		at := p.i
		key, err := p.key(col)
		if err != nil {
			return nil, err
		}
		if keys.add(n.Members, key) {
			return nil, p.fail(at, "the key "+Quote(Cut(key))+" is there twice")
		}
		v, err := p.value(col, afterKey, depth)
		if err != nil {
			return nil, err
		}
		n.Members = append(n.Members, Member{Key: key, KeyPos: offset(at), Value: v})
		if more, err := p.sameColumn(col); !more || err != nil {
			return n, err
		}
	}
}

func (p *yamlReader) sequence(col, depth int) (*Node, error) {
	if depth > maxDepth {
		return nil, p.fail(p.i, "nested more than 32 deep")
	}
	n := p.slab.node(List, p.i)
	for {
		p.i++ // -
		v, err := p.value(col, afterDash, depth)
		if err != nil {
			return nil, err
		}
		n.Items = append(n.Items, v)
		if more, err := p.sameColumn(col); !more || err != nil {
			return n, err
		}
		if !p.indicator('-') {
			return n, nil // a key of the mapping that this list belongs to
		}
	}
}

// sameColumn goes to the next content and tells whether it belongs to the
// collection at col.
func (p *yamlReader) sameColumn(col int) (bool, error) {
	if _, err := p.next(); err != nil || p.ended() {
		return false, err
	}
	switch at := p.i - p.bol; {
	case at > col:
		return false, p.fail(p.i, "the indentation fits nothing above")
	case at < col:
		return false, nil
	}
	return true, nil
}

// maxKey is how long a key on the line of its value may be (YAML 1.2, 7.4.3).
const maxKey = 1024

// key reads a key and its colon in a mapping at col.
func (p *yamlReader) key(col int) (string, error) {
	start, line := p.i, p.bol
	var key string
	switch c := p.b[p.i]; {
	case c == '"' || c == '\'':
		s, err := p.quoted(col)
		if err != nil {
			return "", err
		}
		if p.bol != line {
			return "", p.fail(start, "a key must stand on one line")
		}
		key = s
	case p.indicator('-'):
		return "", p.fail(start, "want a key, got an item of a list")
	case c == '[' || c == '{' || c == '|' || c == '>':
		return "", p.fail(start, "want a key, got "+quoteAt(p.b, start))
	default:
		s, err := p.plainKey(false)
		if err != nil {
			return "", err
		}
		key = s
	}
	if utf8.RuneCount(p.b[start:p.i]) > maxKey {
		return "", p.fail(start, "a key of more than 1024 characters")
	}
	p.white()
	if !p.indicator(':') {
		return "", p.fail(start, "want a key, a colon and a blank, as in \"key: value\"")
	}
	p.i++
	return key, nil
}

// plainKey reads a key without quotes; p then stands behind it.
func (p *yamlReader) plainKey(flow bool) (string, error) {
	start := p.i
	if err := p.plainFirst(flow); err != nil {
		return "", err
	}
	end, _ := p.plainLine(p.i, flow)
	p.i = end
	key := p.s[start:end]
	if key == "<<" {
		return "", p.fail(start, "merge keys are not supported")
	}
	if kind, _, why := coreScalar(key); kind != String || why != "" {
		return "", p.failHelp(start, "a key must be a string, got "+kind.String(), "put it in quotes: "+Quote(Cut(key)))
	}
	return key, nil
}
