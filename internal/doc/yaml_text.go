package doc

import "strings"

// blockScalar reads a literal or folded block of text inside a node indented by n, up to the
// start of the first line after the text.
func (p *yamlReader) blockScalar(n int) *Node {
	start, folded := p.i, p.at('>')
	indent, chomp := p.textHeader(n)
	if p.i < len(p.b) {
		p.newline()
	}
	if indent == 0 {
		indent = p.textIndent(n)
	} else {
		indent += max(n, 0)
	}
	var s strings.Builder
	breaks := 0      // line breaks since the last text
	spaced := false  // the last line with text began with a blank, so that it is not folded
	for !p.ended() { // the start of a line
		for p.at(' ') && p.i-p.bol < indent {
			p.i++
		}
		if p.i-p.bol < indent && !p.eol() {
			if p.at('\t') {
				p.failTab(p.i)
			}
			p.i = p.bol
			break
		}
		if text := p.line(); text != "" {
			was := spaced
			spaced = isWhite(text[0])
			if folded && s.Len() > 0 && !spaced && !was {
				s.WriteString(fold(breaks))
			} else {
				s.WriteString(strings.Repeat("\n", breaks))
			}
			s.WriteString(text)
			breaks = 0
		}
		if p.i == len(p.b) {
			break // no line break ends the last line
		}
		p.newline()
		breaks++
	}
	switch {
	case chomp == '+':
		s.WriteString(strings.Repeat("\n", breaks))
	case chomp == 0 && s.Len() > 0 && breaks > 0:
		s.WriteByte('\n')
	}
	return p.node(String, start, s.String())
}

// textHeader reads the rest of the line after "|" or ">": the indentation, 0 if the first line
// of text decides it, and how many line breaks at the end to keep: none ('-'), all ('+') or
// one (0).
func (p *yamlReader) textHeader(n int) (indent int, chomp byte) {
	for p.i++; p.i < len(p.b); p.i++ {
		switch c := p.b[p.i]; {
		case (c == '-' || c == '+') && chomp == 0:
			chomp = c
		case c >= '1' && c <= '9' && indent == 0:
			if n < 0 {
				p.fail(p.i, "an indentation cannot be given here")
			}
			indent = int(c - '0')
		default:
			p.lineEnd()
			return indent, chomp
		}
	}
	return indent, chomp
}

// textIndent returns the indentation of a block of text, which is that of its first line with
// text, without moving p.
func (p *yamlReader) textIndent(n int) int {
	longest, longestAt := 0, 0
	for i := p.i; ; i++ {
		bol := i
		for i < len(p.b) && p.b[i] == ' ' {
			i++
		}
		indent := i - bol
		switch {
		case i == len(p.b) || !isBreak(p.b[i]) && indent <= n: // no text at all
			return max(longest, indent, n+1)
		case !isBreak(p.b[i]):
			if longest > indent {
				p.fail(longestAt, "this blank line is indented more than the text that follows")
			}
			return indent
		case indent > longest:
			longest, longestAt = indent, bol
		}
	}
}
