package doc

import (
	"strconv"
	"strings"
)

// plainFirst tells whether a scalar without quotes may begin here.
func (p *yamlReader) plainFirst(flow bool) error {
	c := p.b[p.i]
	switch c {
	case '&':
		return p.fail(p.i, "anchors are not supported")
	case '*':
		return p.failHelp(p.i, "aliases are not supported", "a value that begins with * must be put in quotes")
	case '!':
		return p.failHelp(p.i, "tags are not supported", "a value that begins with ! must be put in quotes")
	case '@', '`', '%':
		return p.failHelp(p.i, "a value that begins with "+string(rune(c))+" must be put in quotes", "")
	case '|', '>':
		return p.fail(p.i, "a block of text cannot stand inside [ ] or { }, nor be a key")
	case ',', ']', '}', '#', '[', '{', '"', '\'':
		return p.fail(p.i, "want a value, got "+quoteAt(p.b, p.i))
	case '?', ':', '-':
		if flow && c != '-' { // readers differ on [?a] and [:a]
			return p.failHelp(p.i, "a value that begins with "+string(rune(c))+" must be put in quotes here", "")
		}
		if !p.blankAt(p.i+1) && !(flow && isFlow(p.b[p.i+1])) {
			return nil
		}
		switch c {
		case '?':
			return p.fail(p.i, "keys with ? are not supported")
		case ':':
			return p.fail(p.i, "a key is missing before the colon")
		}
		return p.fail(p.i, "an item of a list cannot stand here")
	}
	return nil
}

// plainLine finds the end of a plain scalar on the line of from, and what
// ended it: ':' of a key, '#' of a comment, a flow indicator, or 0 at the end
// of the line.
func (p *yamlReader) plainLine(from int, flow bool) (end int, stop byte) {
	i := from
scan:
	for ; i < len(p.b) && !isBreak(p.b[i]); i++ {
		switch c := p.b[i]; {
		case c == ':' && (p.blankAt(i+1) || flow && isFlow(p.b[i+1])):
			stop = ':'
			break scan
		case c == '#' && i > from && isWhite(p.b[i-1]):
			stop = '#'
			break scan
		case flow && isFlow(c):
			stop = c
			break scan
		}
	}
	for i > from && isWhite(p.b[i-1]) {
		i--
	}
	return i, stop
}

// plain reads a plain scalar inside a node indented by n; lines that are
// indented more go on with it.
func (p *yamlReader) plain(n int, flow bool) (*Node, error) {
	start := p.i
	end, stop := p.plainLine(p.i, flow)
	p.i = end
	text := p.s[start:end]
	if stop == 0 {
		var more strings.Builder
		if err := p.plainMore(&more, n, flow); err != nil {
			return nil, err
		}
		if more.Len() > 0 {
			node := p.slab.node(String, start)
			node.Text = text + more.String()
			return node, nil
		}
	}
	kind, text, why := coreScalar(text)
	if why != "" {
		return nil, p.failHelp(start, why, "put it in quotes if it is meant as text")
	}
	node := p.slab.node(kind, start)
	node.Text = text
	return node, nil
}

func (p *yamlReader) plainMore(s *strings.Builder, n int, flow bool) error {
	for {
		back, bol := p.i, p.bol
		breaks, err := p.continued(n, false)
		if err != nil {
			return err
		}
		if breaks == 0 || p.at('#') || flow && isFlow(p.b[p.i]) {
			p.i, p.bol = back, bol
			return nil
		}
		if flow && p.at(':') && (p.blankAt(p.i+1) || isFlow(p.b[p.i+1])) {
			return p.fail(p.i, "a key must stand on one line")
		}
		if p.indicator('-') {
			return p.failHelp(p.i, "an item of a list inside a value of several lines", "put the value in quotes, or begin the list on the line after its key")
		}
		end, stop := p.plainLine(p.i, flow)
		if stop == ':' {
			return p.failHelp(p.i, "a key inside a value of several lines", "put the value in quotes, or indent the key as its neighbours")
		}
		fold(s, breaks)
		s.Write(p.b[p.i:end])
		p.i = end
		if stop != 0 {
			return nil
		}
	}
}

// continued goes from the end of a line to the next content of a scalar that
// goes on over several lines inside a node indented by n, and counts the line
// breaks on the way: 0 where the scalar ends.
func (p *yamlReader) continued(n int, isQuoted bool) (breaks int, err error) {
	for {
		p.white() // what trails on the line
		if p.i == len(p.b) || !isBreak(p.b[p.i]) {
			break
		}
		p.newline()
		breaks++
		for p.at(' ') {
			p.i++
		}
		indent := p.i - p.bol
		if p.at('\t') {
			tab := p.i
			p.white()
			// A tab may follow the indentation, but in front of plain text it
			// is more often a mistake.
			if !p.eol() && (indent <= n || !isQuoted) {
				return 0, p.failTab(tab)
			}
		}
		if !p.eol() {
			if p.ended() || indent <= n {
				return 0, nil
			}
			return breaks, nil
		}
	}
	return 0, nil
}

// fold writes what line breaks between two pieces of text mean: one is a
// space, each further one a new line.
func fold(s *strings.Builder, breaks int) {
	if breaks == 1 {
		s.WriteByte(' ')
	}
	for ; breaks > 1; breaks-- {
		s.WriteByte('\n')
	}
}

// coreScalar tells what a plain scalar is in the core schema (YAML 1.2, 10.3).
// A number comes back as JSON writes it.
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
	base := 16
	if s[1] == 'o' {
		base = 8
	}
	for _, c := range []byte(s[2:]) {
		hex := c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
		if base == 16 && !hex || base == 8 && (c < '0' || c > '7') {
			return String, s, ""
		}
	}
	v, err := strconv.ParseUint(s[2:], base, 64)
	if err != nil {
		return Number, "", "the number " + Cut(s) + " is too large"
	}
	return Number, strconv.FormatUint(v, 10), ""
}

// decimalNumber reads [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?.
func decimalNumber(s string) (k Kind, text, why string) {
	rest, sign := s, ""
	if rest[0] == '-' || rest[0] == '+' {
		if rest[0] == '-' {
			sign = "-"
		}
		rest = rest[1:]
	}
	whole := LeadingDigits(rest)
	rest = rest[len(whole):]
	fraction, dot := "", strings.HasPrefix(rest, ".")
	if dot {
		fraction = LeadingDigits(rest[1:])
		rest = rest[1+len(fraction):]
	}
	if whole == "" && fraction == "" {
		return String, s, ""
	}
	exponent := ""
	if rest != "" && (rest[0] == 'e' || rest[0] == 'E') {
		digits := rest[1:]
		if digits != "" && (digits[0] == '+' || digits[0] == '-') {
			digits = digits[1:]
		}
		if digits == "" || LeadingDigits(digits) != digits {
			return String, s, ""
		}
		exponent, rest = rest, ""
	}
	if rest != "" {
		return String, s, ""
	}
	if len(whole) > 1 && whole[0] == '0' {
		return Number, "", "a number cannot begin with 0: some readers take " + Cut(s) + " as octal"
	}
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	return Number, sign + whole + fraction + exponent, ""
}

// LeadingDigits is what of s is decimal digits at its front.
func LeadingDigits(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
}
