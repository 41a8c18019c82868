package agent

import (
	"errors"
	"strconv"
	"strings"
)

// tomlKeys returns the keys of a TOML document, each as the parts of its full name: those of
// table headers, of table members and of inline tables. It reads values only as far as needed to
// find their end. Everything it does not understand is an error: if it missed a key, the MCP
// server of that name would not be withheld.
func tomlKeys(text string) (keys [][]string, err error) {
	keys, _, err = tomlScan(text)
	return keys, err
}

// tomlScan is tomlKeys that also returns the text of each value, by the parts of its key joined
// by dots.
func tomlScan(text string) (keys [][]string, values map[string]string, err error) {
	s := tomlScanner{text: strings.TrimPrefix(text, "\ufeff"), values: map[string]string{}}
	defer func() {
		if stop, ok := recover().(tomlStop); ok {
			keys, values, err = nil, nil, errors.New("line "+strconv.Itoa(1+strings.Count(s.text[:min(s.at, len(s.text))], "\n"))+": "+string(stop))
		}
	}()
	var table []string
	for s.lines(); s.at < len(s.text); s.lines() {
		if s.text[s.at] == '[' {
			many := s.take("[[")
			if !many {
				s.want("[")
			}
			table = s.key()
			s.keys = append(s.keys, table)
			if s.want("]"); many {
				s.want("]")
			}
		} else {
			s.pair(table)
		}
		s.blanks()
		if s.at < len(s.text) && !s.take("\n") && !s.take("\r\n") {
			s.stop("unexpected text follows a value")
		}
	}
	return s.keys, s.values, nil
}

type tomlScanner struct {
	text string
	at   int
	deep int
	keys [][]string

	values map[string]string
}

// tomlStop is the panic that ends tomlScan with an error.
type tomlStop string

func (s *tomlScanner) stop(why string) { panic(tomlStop(why)) }

// maxTables is the maximal nesting of values.
const maxTables = 64

func (s *tomlScanner) peek() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

func (s *tomlScanner) take(what string) bool {
	if strings.HasPrefix(s.text[s.at:], what) {
		s.at += len(what)
		return true
	}
	return false
}

func (s *tomlScanner) want(what string) {
	if !s.take(what) {
		s.stop(strconv.Quote(what) + " is missing")
	}
}

// blanks skips spaces, tabs and a comment.
func (s *tomlScanner) blanks() {
	for s.peek() == ' ' || s.peek() == '\t' {
		s.at++
	}
	if s.peek() == '#' {
		for s.at < len(s.text) && s.text[s.at] != '\n' {
			s.at++
		}
	}
}

// lines skips blanks, comments and line breaks.
func (s *tomlScanner) lines() {
	for {
		s.blanks()
		if !s.take("\n") && !s.take("\r\n") {
			return
		}
	}
}

// key reads a key of one or more parts, with the blanks around it.
func (s *tomlScanner) key() []string {
	var parts []string
	for {
		s.blanks()
		switch from := s.at; s.peek() {
		case '"', '\'':
			if strings.HasPrefix(s.text[s.at:], `"""`) || strings.HasPrefix(s.text[s.at:], "'''") {
				s.stop("a key of several lines")
			}
			parts = append(parts, s.quoted())
		default:
			for bareKey(s.peek()) {
				s.at++
			}
			if s.at == from {
				s.stop("a key is missing")
			}
			parts = append(parts, s.text[from:s.at])
		}
		if s.blanks(); !s.take(".") {
			return parts
		}
	}
}

func bareKey(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// isBare reports whether a name needs no quotes as a key.
func isBare(name string) bool {
	for i := range len(name) {
		if !bareKey(name[i]) {
			return false
		}
	}
	return name != ""
}

func (s *tomlScanner) pair(table []string) {
	key := append(table[:len(table):len(table)], s.key()...)
	s.keys = append(s.keys, key)
	s.want("=")
	s.blanks()
	from := s.at
	s.value(key)
	s.values[strings.Join(key, ".")] = s.text[from:s.at]
}

// value skips a value. It records the keys of an inline table under key, and those of tables in
// an array under an empty key, which no table has.
func (s *tomlScanner) value(key []string) {
	if s.deep++; s.deep > maxTables {
		s.stop("values are nested too deeply")
	}
	defer func() { s.deep-- }()
	switch s.peek() {
	case '"', '\'':
		s.quoted()
	case '[':
		s.at++
		s.items("]", func() { s.value([]string{""}) })
	case '{':
		s.at++
		s.items("}", func() { s.pair(key) })
	default:
		from := s.at
		for c := s.peek(); bareKey(c) || c != 0 && strings.IndexByte("+.: ", c) >= 0; c = s.peek() {
			if c == ' ' && !digits(s.text[from:s.at]) { // only a date and time such as 1979-05-27 07:32:00 has one
				break
			}
			s.at++
		}
		if s.at == from {
			s.stop("a value is missing")
		}
	}
}

func digits(s string) bool {
	return strings.Trim(s, "0123456789-") == "" && len(s) == len("1979-05-27")
}

// items reads the items of an array or an inline table, up to its end.
func (s *tomlScanner) items(end string, one func()) {
	for s.lines(); !s.take(end); s.lines() {
		one()
		if s.lines(); !s.take(",") && s.peek() != end[0] {
			s.stop(`"," or "` + end + `" is missing`)
		}
	}
}

// quoted reads a string in any of the four forms.
func (s *tomlScanner) quoted() string {
	q := s.text[s.at : s.at+1]
	if long := strings.Repeat(q, 3); s.take(long) {
		return s.longText(long)
	}
	s.at++
	var b strings.Builder
	for {
		switch c := s.peek(); {
		case c == 0 && s.at >= len(s.text), c == '\n':
			s.stop("a string is not closed")
		case c == q[0]:
			s.at++
			return b.String()
		case c == '\\' && q == `"`:
			b.WriteString(s.escape())
		default:
			b.WriteByte(c)
			s.at++
		}
	}
}

// longText skips a string of several lines, whose last characters may be quotes.
func (s *tomlScanner) longText(long string) string {
	for s.at < len(s.text) {
		if s.take(long) {
			for range 2 {
				s.take(long[:1])
			}
			return ""
		}
		if s.text[s.at] == '\\' && long[0] == '"' {
			s.at++
		}
		s.at++
	}
	s.stop("a string is not closed")
	return ""
}

// escape reads an escape and returns its character.
func (s *tomlScanner) escape() string {
	s.at++
	c := s.peek()
	s.at++
	if i := strings.IndexByte(`"\bfnrte`, c); i >= 0 && c != 0 {
		return "\"\\\b\f\n\r\t\x1b"[i : i+1]
	}
	size := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	if size == 0 || s.at+size > len(s.text) { // size is 0 at the end of the text, too
		s.stop("an invalid escape")
	}
	n, err := strconv.ParseUint(s.text[s.at:s.at+size], 16, 32)
	if err != nil {
		s.stop("an invalid escape")
	}
	s.at += size
	return string(rune(n))
}

// tomlText returns s as a TOML string.
func tomlText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			b.WriteString(`\u` + strconv.FormatInt(0x10000+int64(r), 16)[1:])
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func tomlList(all []string) string {
	quoted := make([]string, len(all))
	for i, s := range all {
		quoted[i] = tomlText(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
