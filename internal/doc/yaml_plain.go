package doc

import (
	"errors"
	"strconv"
	"strings"
)

// plainFirst rejects characters with which a scalar without quotes cannot begin.
func (p *yamlReader) plainFirst(flow bool) {
	c := p.b[p.i]
	switch c {
	case '&':
		p.fail(p.i, "anchors are not supported")
	case '*':
		p.fail(p.i, "aliases are not supported", "a value that begins with * must be put in quotes")
	case '!':
		p.fail(p.i, "tags are not supported", "a value that begins with ! must be put in quotes")
	case '@', '`', '%':
		p.fail(p.i, "a value that begins with "+string(rune(c))+" must be put in quotes")
	case '|', '>':
		p.fail(p.i, "a block of text cannot stand inside [ ] or { }, nor be a key")
	case ',', ']', '}', '#', '[', '{', '"', '\'':
		p.fail(p.i, "want a value, got "+quoteAt(p.b, p.i))
	case '?', ':', '-':
		switch {
		case flow && c != '-': // readers differ on [?a] and [:a]
			p.fail(p.i, "a value that begins with "+string(rune(c))+" must be put in quotes here")
		case !p.blankAt(p.i+1, flow):
		case c == '?':
			p.fail(p.i, "keys with ? are not supported")
		case c == ':':
			p.fail(p.i, "a key is missing before the colon")
		default:
			p.fail(p.i, "an item of a list cannot stand here")
		}
	}
}

// plainLine returns the part of a plain scalar on this line and the character that ends it: ':'
// of a key, '#' of a comment, an indicator of flow collections, or 0 at the end of the line.
func (p *yamlReader) plainLine(flow bool) (text string, stop byte) {
	i := p.i
	for ; i < len(p.b) && !isBreak(p.b[i]); i++ {
		c := p.b[i]
		if c == ':' && p.blankAt(i+1, flow) || c == '#' && i > p.i && isWhite(p.b[i-1]) || flow && isFlow(c) {
			stop = c
			break
		}
	}
	return trimmed(p.s[p.i:i]), stop
}

// plain reads a plain scalar inside a node indented by n, with all following lines that are
// indented more.
func (p *yamlReader) plain(n int, flow bool) *Node {
	start := p.i
	text, stop := p.plainLine(flow)
	p.i += len(text)
	if stop == 0 {
		if more := p.plainMore(n, flow); more != "" {
			return p.node(String, start, text+more)
		}
	}
	kind, text, why := coreScalar(text)
	if why != "" {
		p.fail(start, why, "put it in quotes if it is meant as text")
	}
	return p.node(kind, start, text)
}

func (p *yamlReader) plainMore(n int, flow bool) string {
	var s strings.Builder
	for stop := byte(0); stop == 0; {
		back, bol := p.i, p.bol
		breaks := p.continued(n, false)
		if breaks == 0 || p.at('#') || flow && isFlow(p.b[p.i]) {
			p.i, p.bol = back, bol
			break
		}
		if flow && p.at(':') && p.blankAt(p.i+1, true) {
			p.fail(p.i, "a key must stand on one line")
		}
		if p.indicator('-') {
			p.fail(p.i, "an item of a list inside a value of several lines", "put the value in quotes, or begin the list on the line after its key")
		}
		var text string
		if text, stop = p.plainLine(flow); stop == ':' {
			p.fail(p.i, "a key inside a value of several lines", "put the value in quotes, or indent the key as its neighbours")
		}
		s.WriteString(fold(breaks))
		s.WriteString(text)
		p.i += len(text)
	}
	return s.String()
}

// continued skips from the end of a line to the next content of a scalar of several lines
// inside a node indented by n. It returns the number of line breaks; 0 if the scalar ends.
func (p *yamlReader) continued(n int, isQuoted bool) (breaks int) {
	for p.white(); p.i < len(p.b) && p.eol(); p.white() { // trailing blanks
		p.newline()
		breaks++
		for p.at(' ') {
			p.i++
		}
		indent, tab := p.i-p.bol, p.at('\t')
		if p.white(); p.eol() {
			continue
		}
		// YAML allows a tab after the indentation, but before plain text it is probably a
		// mistake.
		if tab && (indent <= n || !isQuoted) {
			p.failTab(p.bol + indent)
		}
		if indent <= n || p.ended() {
			return 0
		}
		return breaks
	}
	return 0
}

// fold returns the text that line breaks between two pieces of a scalar stand for: a space for
// one, a line break for each further one.
func fold(breaks int) string {
	if breaks == 1 {
		return " "
	}
	return strings.Repeat("\n", breaks-1)
}

// coreScalar returns the kind and value of a plain scalar in the core schema (YAML 1.2, 10.3),
// a number in JSON's form. why is not "" if the scalar is an error.
func coreScalar(s string) (k Kind, text, why string) {
	switch s {
	case "", "~", "null", "Null", "NULL":
		return Null, "null", ""
	case "true", "True", "TRUE":
		return Bool, "true", ""
	case "false", "False", "FALSE":
		return Bool, "false", ""
	case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF":
		return Number, ".inf", ""
	case "-.inf", "-.Inf", "-.INF":
		return Number, "-.inf", ""
	case ".nan", ".NaN", ".NAN":
		return Number, ".nan", ""
	}
	if c := s[0]; c != '+' && c != '-' && c != '.' && (c < '0' || c > '9') {
		return String, s, ""
	}
	if len(s) > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'o') {
		return basedNumber(s)
	}
	return decimalNumber(s)
}

// basedNumber reads 0x1F and 0o17.
func basedNumber(s string) (k Kind, text, why string) {
	base, digits := 16, "0123456789abcdefABCDEF"
	if s[1] == 'o' {
		base, digits = 8, "01234567"
	}
	if strings.Trim(s[2:], digits) != "" {
		return String, s, ""
	}
	v, err := strconv.ParseUint(s[2:], base, 64)
	if err != nil {
		return Number, "", "the number " + Cut(s) + " is too large"
	}
	return Number, strconv.FormatUint(v, 10), ""
}

// decimalNumber reads [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?: the texts of these
// characters that ParseFloat accepts.
func decimalNumber(s string) (k Kind, text, why string) {
	if strings.Trim(s, "+-.0123456789eE") != "" {
		return String, s, ""
	}
	if _, err := strconv.ParseFloat(s, 64); errors.Is(err, strconv.ErrSyntax) {
		return String, s, ""
	}
	rest := strings.TrimLeft(s, "+-")
	sign := strings.TrimSuffix(s[:len(s)-len(rest)], "+")
	whole := LeadingDigits(rest)
	rest = rest[len(whole):]
	if strings.HasPrefix(rest, ".") && LeadingDigits(rest[1:]) == "" {
		rest = rest[1:]
	}
	switch {
	case whole == "":
		whole = "0"
	case whole[0] == '0' && len(whole) > 1:
		return Number, "", "a number cannot begin with 0: some readers take " + Cut(s) + " as octal"
	}
	return Number, sign + whole + rest, ""
}

// LeadingDigits returns the decimal digits at the beginning of s.
func LeadingDigits(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
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
