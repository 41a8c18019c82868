package doc

func isFlow(c byte) bool { return c == '[' || c == ']' || c == '{' || c == '}' || c == ',' }

// flow reads [...] or {...} inside a node indented by n.
func (p *yamlReader) flow(n, depth int) (*Node, error) {
	if depth == maxDepth {
		return nil, p.fail(p.i, "nested more than 32 deep")
	}
	if p.b[p.i] == '{' {
		return p.flowObject(n, depth+1)
	}
	return p.flowList(n, depth+1)
}

// flowNext goes to the next content of the collection that began at open.
func (p *yamlReader) flowNext(n, open int) error {
	crossed, err := p.next()
	if err != nil {
		return err
	}
	if p.ended() {
		return p.fail(open, "this "+quoteAt(p.b, open)+" is not closed")
	}
	if crossed && p.i-p.bol <= n && !p.at(']') && !p.at('}') {
		return p.failHelp(p.i, "a line inside "+quoteAt(p.b, open)+" must be indented more than its key", "")
	}
	return nil
}

func (p *yamlReader) flowList(n, depth int) (*Node, error) {
	open := p.i
	list := p.slab.node(List, open)
	p.i++
	for {
		if err := p.flowNext(n, open); err != nil {
			return nil, err
		}
		if p.at(']') {
			p.i++
			return list, nil
		}
		item, err := p.flowValue(n, depth)
		if err != nil {
			return nil, err
		}
		list.Items = append(list.Items, item)
		if err := p.flowNext(n, open); err != nil {
			return nil, err
		}
		switch {
		case p.at(','):
			p.i++
		case p.at(':'):
			return nil, p.failHelp(p.i, "an object inside a list needs braces", "write {key: value}")
		case !p.at(']'):
			return nil, p.fail(p.i, "want , or ], got "+quoteAt(p.b, p.i))
		}
	}
}

func (p *yamlReader) flowObject(n, depth int) (*Node, error) {
	open := p.i
	object := p.slab.node(Object, open)
	var keys keySet
	p.i++
	for {
		if err := p.flowNext(n, open); err != nil {
			return nil, err
		}
		if p.at('}') {
			p.i++
			return object, nil
		}
		at := p.i
		key, err := p.flowKey(n, open)
		if err != nil {
			return nil, err
		}
		if keys.add(object.Members, key) {
			return nil, p.fail(at, "the key "+Quote(Cut(key))+" is there twice")
		}
		colon := p.i
		if err := p.flowNext(n, open); err != nil {
			return nil, err
		}
		v := p.slab.node(Null, colon)
		if !p.at(',') && !p.at('}') {
			if v, err = p.flowValue(n, depth); err != nil {
				return nil, err
			}
			if err := p.flowNext(n, open); err != nil {
				return nil, err
			}
		}
		object.Members = append(object.Members, Member{Key: key, KeyPos: offset(at), Value: v})
		switch {
		case p.at(','):
			p.i++
		case !p.at('}'):
			return nil, p.fail(p.i, "want , or }, got "+quoteAt(p.b, p.i))
		}
	}
}

// flowKey reads a key and its colon.
func (p *yamlReader) flowKey(n, open int) (string, error) {
	start, line := p.i, p.bol
	var key string
	var err error
	isQuoted := false
	switch c := p.b[p.i]; {
	case c == '"' || c == '\'':
		isQuoted = true
		key, err = p.quoted(n)
	case c == '[' || c == '{':
		return "", p.fail(start, "a list or an object cannot be a key")
	default:
		key, err = p.plainKey(true)
	}
	if err != nil {
		return "", err
	}
	if p.bol != line {
		return "", p.fail(start, "a key must stand on one line")
	}
	if err := p.flowNext(n, open); err != nil {
		return "", err
	}
	if !isQuoted && p.bol != line { // JSON may put the colon there, after quotes
		return "", p.fail(start, "a key must stand on one line")
	}
	// {"a":1} is JSON's way; a plain key's colon needs something behind it
	// that shows it to be one.
	if p.at(':') && (isQuoted || p.blankAt(p.i+1) || isFlow(p.b[p.i+1])) {
		p.i++
		return key, nil
	}
	return "", p.fail(p.i, "want a colon and a blank after the key "+Quote(Cut(key))+", got "+quoteAt(p.b, p.i))
}

func (p *yamlReader) flowValue(n, depth int) (*Node, error) {
	start := p.i
	if p.slab.count >= maxValues {
		return nil, p.fail(start, tooMany)
	}
	switch c := p.b[p.i]; c {
	case '[', '{':
		return p.flow(n, depth)
	case '"', '\'':
		s, err := p.quoted(n)
		if err != nil {
			return nil, err
		}
		node := p.slab.node(String, start)
		node.Text = s
		return node, nil
	}
	if err := p.plainFirst(true); err != nil {
		return nil, err
	}
	return p.plain(n, true)
}
