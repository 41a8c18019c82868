package doc

// flow reads [...] or {...} inside a node indented by n.
func (p *yamlReader) flow(n int) *Node {
	open, kind, end := p.i, List, byte(']')
	if p.at('{') {
		kind, end = Object, '}'
	}
	node, keys := p.open(kind), keySet{}
	for {
		p.i++ // the bracket, or a comma
		if p.flowNext(n, open); p.at(end) {
			break
		}
		if at := p.i; kind == List {
			node.Items = append(node.Items, p.flowValue(n))
			if p.flowNext(n, open); p.at(':') {
				p.fail(p.i, "an object inside a list needs braces", "write {key: value}")
			}
		} else {
			key := p.flowKey(n, open)
			p.once(&keys, node, key, at)
			node.Members = append(node.Members, Member{Key: key, KeyPos: offset(at), Value: p.flowMember(n, open)})
		}
		if p.at(end) {
			break
		}
		if !p.at(',') {
			p.fail(p.i, "want , or "+string(end)+", got "+quoteAt(p.b, p.i))
		}
	}
	p.i++
	p.depth--
	return node
}

// flowNext skips to the next content of the collection that began at open.
func (p *yamlReader) flowNext(n, open int) {
	crossed := p.next()
	if p.ended() {
		p.fail(open, "this "+quoteAt(p.b, open)+" is not closed")
	}
	if crossed && p.i-p.bol <= n && !p.at(']') && !p.at('}') {
		p.fail(p.i, "a line inside "+quoteAt(p.b, open)+" must be indented more than its key")
	}
}

// flowKey reads a key and its colon.
func (p *yamlReader) flowKey(n, open int) (key string) {
	start, line := p.i, p.bol
	isQuoted := p.at('"') || p.at('\'')
	switch {
	case isQuoted:
		key = p.quoted(n)
		p.oneLine(start, line)
	case p.at('[') || p.at('{'):
		p.fail(start, "a list or an object cannot be a key")
	default:
		key = p.plainKey(true)
	}
	p.flowNext(n, open)
	if !isQuoted { // after quotes the colon may be on another line, as in JSON
		p.oneLine(start, line)
	}
	// {"a":1} is valid, as in JSON; after a plain key a colon ends the key only if a blank or
	// an indicator follows.
	if !p.at(':') || !isQuoted && !p.blankAt(p.i+1, true) {
		p.fail(p.i, "want a colon and a blank after the key "+Quote(Cut(key))+", got "+quoteAt(p.b, p.i))
	}
	p.i++
	return key
}

// flowMember reads the value after a key's colon and skips to the next content.
func (p *yamlReader) flowMember(n, open int) *Node {
	colon := p.i
	if p.flowNext(n, open); p.at(',') || p.at('}') {
		return p.node(Null, colon, "")
	}
	v := p.flowValue(n)
	p.flowNext(n, open)
	return v
}

func (p *yamlReader) flowValue(n int) *Node {
	switch start := p.i; p.b[start] {
	case '[', '{':
		return p.flow(n)
	case '"', '\'':
		return p.node(String, start, p.quoted(n))
	}
	p.plainFirst(true)
	return p.plain(n, true)
}
