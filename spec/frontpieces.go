package spec

import (
	"slices"
	"strings"
)

// pieces reads front matter that is no YAML as a whole; why says where it is
// not, and stays the answer where the lines could hide a key of sbx's.
type pieces struct {
	name  string
	b     []byte
	whole *Node
	key   string // of the piece that is being gathered
	from  int    // where it begins; -1 before the first
}

func frontPieces(name string, b []byte, start, end int, why error) (*Node, error) {
	s := string(b[:end])
	p := pieces{name: name, b: b, whole: &Node{Kind: Object, Pos: Pos{1, 1}}, from: -1}
	first := contentAt(s, start)
	column := indentOf(s[first:])
	for i := first; i < end; {
		line, next := lineAt(s, i)
		indent := indentOf(line)
		rest := line[indent:]
		key, isKey := keyOf(rest)
		switch {
		case rest == "" || rest[0] == '#':
		case indent < column, indent == column && mayHideKey(rest):
			return nil, why
		case indent > column && isKey && key != "name" && isFrontKey(key) && !isFrontKey(p.key):
			return nil, why // a description that seems to go on with "  tools: Read"
		case indent == column && isKey:
			if err := p.cut(i); err != nil {
				return nil, err
			}
			p.key, p.from = key, i
		case p.from < 0:
			return nil, why
		}
		i = next
	}
	return p.whole, p.cut(end)
}

func isFrontKey(key string) bool { return slices.Contains(frontKeys, key) }

// cut ends the piece before to. Of keys that are not sbx's only those are kept
// that may have been meant to be, and few of them.
func (p *pieces) cut(to int) error {
	const few = 16
	own := isFrontKey(p.key)
	switch {
	case p.from < 0, !own && (frontMeant(p.key) == "" || len(p.whole.Members) > few):
		return nil
	case own && p.whole.Get(p.key) != nil:
		return errorAt(p.name, p.b, p.from, "the key "+quote(p.key)+" is there twice")
	case !own:
		l := newLocator(p.b)
		at := l.at(p.from)
		p.whole.Members = append(p.whole.Members, Member{Key: p.key, KeyPos: at, Value: &Node{Kind: Null, Pos: at}})
		return nil
	}
	n, err := parseFrom(p.name, p.b, p.from, to)
	if err != nil {
		return err
	}
	if len(n.Members) == 0 || n.Members[0].Key != p.key {
		return errorAt(p.name, p.b, p.from, "want "+p.key+": and its value")
	}
	p.whole.Members = append(p.whole.Members, n.Members[0])
	return nil
}

// The lines of front matter, where they are looked at as text.

// lineAt is the line at i without its break, and where the next one begins.
func lineAt(s string, i int) (line string, next int) {
	end := i
	for end < len(s) && !isBreak(s[end]) {
		end++
	}
	next = min(end+1, len(s))
	if end+1 < len(s) && s[end] == '\r' && s[end+1] == '\n' {
		next = end + 2
	}
	return s[i:end], next
}

// contentAt is where the first line at or behind i begins that holds more than
// blanks and a comment, or the end.
func contentAt(s string, i int) int {
	for i < len(s) {
		line, next := lineAt(s, i)
		if rest := line[indentOf(line):]; rest != "" && rest[0] != '#' {
			return i
		}
		i = next
	}
	return len(s)
}

func isBlank(line string) bool { return indentOf(line) == len(line) }

// isMarker tells whether a line is "---" and no more.
func isMarker(line string) bool { return strings.TrimRight(line, " \t") == "---" }

// indentOf counts the blanks that line begins with. A tab is one: YAML takes
// none there, and says so when it reads the piece.
func indentOf(line string) int {
	i := 0
	for i < len(line) && isWhite(line[i]) {
		i++
	}
	return i
}

// keyOf is the key that a line begins with, bare or in quotes. A key of sbx's
// is one without the blank behind its colon too: it was meant.
func keyOf(line string) (key string, ok bool) {
	var rest string
	if line != "" && (line[0] == '"' || line[0] == '\'') {
		key, rest, _ = strings.Cut(line[1:], line[:1])
	} else {
		i := 0
		for i < len(line) && isKeyByte(line[i]) {
			i++
		}
		key, rest = line[:i], line[i:]
	}
	rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " \t"), ":")
	if !ok || key == "" {
		return "", false
	}
	return key, rest == "" || isWhite(rest[0]) || isFrontKey(key)
}

func isKeyByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
}

// mayHideKey tells whether YAML could write a key in such a line that keyOf
// does not see: explicit, tagged, with an anchor, merged or escaped.
func mayHideKey(line string) bool {
	switch line[0] {
	case '?', '!', '&':
		return true
	case '"':
		return strings.Contains(line, `\`)
	}
	return strings.HasPrefix(line, "<<")
}
