package doc

import "strings"

// chomping is what becomes of the line breaks that end a block of text.
type chomping uint8

const (
	clip  chomping = iota // one stays
	strip                 // none stays
	keep                  // all stay
)

// textHeader is what stands behind "|" or ">".
type textHeader struct {
	folded bool
	indent int // 0: told from the first line
	chomp  chomping
}

// blockScalar reads a literal or folded block of text inside a node indented
// by n.
func (p *yamlReader) blockScalar(n int) (*Node, error) {
	node := p.slab.node(String, p.i)
	h, err := p.textHeader(n)
	if err != nil {
		return nil, err
	}
	if p.eol() && p.i < len(p.b) {
		p.newline()
	}
	indent := max(n, 0) + h.indent
	if h.indent == 0 {
		if indent, err = p.textIndent(n); err != nil {
			return nil, err
		}
	}
	var t blockText
	for p.i < len(p.b) {
		line, ok, err := p.textLine(indent)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		t.add(line, h.folded)
		if p.i == len(p.b) {
			break // no line break ends the last line
		}
		p.newline()
		t.breaks++
	}
	node.Text = t.end(h.chomp)
	// p stands at the start of a line that the text does not own.
	return node, nil
}

func (p *yamlReader) textHeader(n int) (h textHeader, err error) {
	h.folded = p.b[p.i] == '>'
	p.i++
	chomped := false
	for ; p.i < len(p.b); p.i++ {
		switch c := p.b[p.i]; {
		case (c == '-' || c == '+') && !chomped:
			chomped = true
			h.chomp = strip
			if c == '+' {
				h.chomp = keep
			}
			continue
		case c >= '1' && c <= '9' && h.indent == 0:
			if n < 0 {
				return h, p.fail(p.i, "an indentation cannot be given here")
			}
			h.indent = int(c - '0')
			continue
		}
		break
	}
	return h, p.lineEnd()
}

// textIndent finds the indentation of a block of text: that of its first line
// with text. p stays where it is.
func (p *yamlReader) textIndent(n int) (int, error) {
	longest, longestAt := 0, 0
	for i := p.i; ; {
		bol := i
		for i < len(p.b) && p.b[i] == ' ' {
			i++
		}
		indent := i - bol
		if i == len(p.b) || isBreak(p.b[i]) {
			if indent > longest {
				longest, longestAt = indent, bol
			}
			if i == len(p.b) {
				return max(longest, n+1), nil
			}
			if p.b[i] == '\r' && i+1 < len(p.b) && p.b[i+1] == '\n' {
				i++
			}
			i++
			continue
		}
		if indent <= n { // no text at all
			return max(longest, n+1), nil
		}
		if longest > indent {
			return 0, p.fail(longestAt, "this blank line is indented more than the text that follows")
		}
		return indent, nil
	}
}

// textLine reads one line up to its break; ok is false where the text ends.
func (p *yamlReader) textLine(indent int) (line []byte, ok bool, err error) {
	if p.ended() {
		return nil, false, nil
	}
	i := p.i
	for i < len(p.b) && p.b[i] == ' ' && i-p.bol < indent {
		i++
	}
	if i-p.bol < indent && i < len(p.b) && !isBreak(p.b[i]) {
		if p.b[i] == '\t' {
			return nil, false, p.failTab(i)
		}
		return nil, false, nil
	}
	start := i
	for i < len(p.b) && !isBreak(p.b[i]) {
		i++
	}
	p.i = i
	return p.b[start:i], true, nil
}

// blockText gathers the lines of a block of text.
type blockText struct {
	s      strings.Builder
	breaks int  // line breaks seen since the last text
	some   bool // any text yet
	spaced bool // the last line with text began with a blank: it is not folded
}

func (t *blockText) add(line []byte, folded bool) {
	if len(line) == 0 {
		return
	}
	spaced := isWhite(line[0])
	switch {
	case folded && t.some && !spaced && !t.spaced:
		fold(&t.s, t.breaks)
	default:
		for ; t.breaks > 0; t.breaks-- {
			t.s.WriteByte('\n')
		}
	}
	t.breaks = 0
	t.some, t.spaced = true, spaced
	t.s.Write(line)
}

func (t *blockText) end(c chomping) string {
	switch {
	case c == clip && t.some && t.breaks > 0:
		t.s.WriteByte('\n')
	case c == keep:
		for ; t.breaks > 0; t.breaks-- {
			t.s.WriteByte('\n')
		}
	}
	return t.s.String()
}
