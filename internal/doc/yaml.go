package doc

// ParseYAML reads one YAML document in the part of YAML 1.2 with the core schema that every
// reader understands alike. It supports block and flow collections, plain, quoted, literal and
// folded scalars, comments and document markers. It rejects anchors, aliases, merge keys, tags,
// directives, complex keys, tabs as indentation, numbers that begin with 0 and several
// documents. The limits are those of ParseJSON.
func ParseYAML(name string, b []byte) (n *Node, err error) {
	if err := Check(name, b); err != nil {
		return nil, err
	}
	defer refused(&n, &err)
	p := yamlReader{yamlText: yamlText{name: name, b: b, s: string(b)}}
	p.checkPrintable()
	return located(b, p.document()), nil
}

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
