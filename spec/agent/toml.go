package agent

import (
	"errors"
	"strconv"
	"strings"
)

// tomlKeys are the keys of a TOML document, each as the parts of its whole name:
// of tables' headers, of what they hold and of inline tables. Values are passed
// over, but for their form, by which the next key is found. What it cannot follow
// is an error: a key that was missed would be a server that nobody withholds.
func tomlKeys(text string) (keys [][]string, err error) {
	keys, _, err = tomlScan(text)
	return keys, err
}

// tomlScan is tomlKeys, with the values beside: as they are written, by the parts of
// their key with dots between.
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

// tomlStop ends a reading.
type tomlStop string

func (s *tomlScanner) stop(why string) { panic(tomlStop(why)) }

// maxTables is how deep values may stand in each other.
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

// blanks passes over spaces, tabs and a comment.
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

// lines passes over ends of lines, too.
func (s *tomlScanner) lines() {
	for {
		s.blanks()
		if !s.take("\n") && !s.take("\r\n") {
			return
		}
	}
}

// key is a key of one part or several, with the blanks around it.
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

// isBare tells whether a name needs no quotes as a key.
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

// value passes over a value; the keys of an inline table count from its own key,
// those in an array from one that no table has.
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
			if c == ' ' && !digits(s.text[from:s.at]) { // 1979-05-27 07:32:00 alone has one
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

// items are those of an array or an inline table, up to its end.
func (s *tomlScanner) items(end string, one func()) {
	for s.lines(); !s.take(end); s.lines() {
		one()
		if s.lines(); !s.take(",") && s.peek() != end[0] {
			s.stop(`"," or "` + end + `" is missing`)
		}
	}
}

// quoted is a text in any of the four forms.
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

// longText passes over a text of several lines, which may end in quotes of its own.
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

// escape is the character that a backslash and what follows it mean.
func (s *tomlScanner) escape() string {
	s.at++
	c := s.peek()
	s.at++
	if i := strings.IndexByte(`"\bfnrte`, c); i >= 0 && c != 0 {
		return "\"\\\b\f\n\r\t\x1b"[i : i+1]
	}
	size := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
	if size == 0 || s.at+size > len(s.text) { // which the end of the text is, too
		s.stop("an invalid escape")
	}
	n, err := strconv.ParseUint(s.text[s.at:s.at+size], 16, 32)
	if err != nil {
		s.stop("an invalid escape")
	}
	s.at += size
	return string(rune(n))
}
