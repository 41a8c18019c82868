package workshop

import (
	"slices"
	"strings"

	"sbx/internal/doc"
	"sbx/spec"
)

// Files of other programs hold keys of sbx's beside keys that are not, and
// those are often no YAML at all. So such a file is read twice at most. Where
// it is YAML as a whole, that is what it says. Where it is not, it is cut at its
// top-level keys, and each of sbx's own is read alone and strictly. That must
// never lose one: a key of sbx's that is there twice, or a line that could hide
// one, is an error.

// ownKeys is the object of those members of b[start:end] that keys names.
// Places count from the beginning of b.
func ownKeys(name string, b []byte, start, end int, keys []string) (*doc.Node, []spec.Warning, error) {
	own := &doc.Node{Kind: doc.Object, Pos: doc.Pos{Line: 1, Col: 1}}
	if contentAt(string(b[:end]), start) == end {
		return own, nil, nil
	}
	whole, err := parseFrom(name, b, start, end)
	if err != nil {
		whole, err = inPieces(name, b, start, end, keys, err)
	}
	if err != nil {
		return nil, nil, err
	}
	if whole.Kind != doc.Object {
		return nil, nil, &doc.Error{Name: name, Pos: whole.Pos, Why: "want keys and values, got " + whole.Kind.String()}
	}
	own.Pos = whole.Pos
	var warns []spec.Warning
	for _, m := range whole.Members {
		if slices.Contains(keys, m.Key) {
			own.Members = append(own.Members, m)
		} else if meant := keyMeant(m.Key, keys); meant != "" {
			warns = append(warns, spec.Warning{Field: spec.Field(meant), On: placeOf(name, m.KeyPos), Text: "the key " + doc.Quote(doc.Cut(m.Key)) + " is not read: sbx reads " + doc.Quote(meant)})
		}
	}
	return own, warns, nil
}

// keyMeant is the key that one was probably meant to be. Only what means the
// same counts: hooks is two letters away from tools.
func keyMeant(key string, keys []string) string {
	meant := doc.Bare(key)
	switch meant {
	case "tool", "allowedtools", "toolsallowed":
		meant = "tools"
	case "sandboxes":
		meant = "sandbox"
	}
	if slices.Contains(keys, meant) {
		return meant
	}
	return ""
}

func placeOf(name string, p doc.Pos) string { return (&doc.Error{Name: name, Pos: p}).On() }

// parseFrom reads b[start:end] as YAML, with the places that it has in b.
func parseFrom(name string, b []byte, start, end int) (*doc.Node, error) {
	above := strings.Repeat("\n", doc.PosAt(b, start).Line-1)
	return doc.ParseYAML(name, append([]byte(above), b[start:end]...))
}

// pieces reads what is no YAML as a whole.
type pieces struct {
	name  string
	b     []byte
	keys  []string
	whole *doc.Node
	key   string // of the piece that is being gathered
	from  int    // where it begins; -1 before the first
}

// inPieces reads b[start:end] by its top-level keys. why says where it is no
// YAML, and stays the answer where the lines could hide a key of sbx's.
func inPieces(name string, b []byte, start, end int, keys []string, why error) (*doc.Node, error) {
	s := string(b[:end])
	p := pieces{name: name, b: b, keys: keys, whole: &doc.Node{Kind: doc.Object, Pos: doc.Pos{Line: 1, Col: 1}}, from: -1}
	first := contentAt(s, start)
	column := indentOf(s[first:])
	for i := first; i < end; {
		line, next := lineAt(s, i)
		indent := indentOf(line)
		rest := line[indent:]
		key, isKey := keyOf(rest, keys)
		switch {
		case rest == "" || rest[0] == '#':
		case indent < column, indent == column && mayHideKey(rest), indent == 0 && isDocumentMarker(rest):
			return nil, why
		case indent > column && isKey && key != "name" && p.own(key) && !p.own(p.key):
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

func (p *pieces) own(key string) bool { return slices.Contains(p.keys, key) }

// cut ends the piece before to. Of keys that are not sbx's only those are kept
// that may have been meant to be, and few of them.
func (p *pieces) cut(to int) error {
	const few = 16
	own := p.own(p.key)
	switch {
	case p.from < 0, !own && (keyMeant(p.key, p.keys) == "" || len(p.whole.Members) > few):
		return nil
	case own && p.whole.Get(p.key) != nil:
		return doc.ErrorAt(p.name, p.b, p.from, "the key "+doc.Quote(p.key)+" is there twice")
	case !own:
		at := doc.PosAt(p.b, p.from)
		p.whole.Members = append(p.whole.Members, doc.Member{Key: p.key, KeyPos: at, Value: &doc.Node{Kind: doc.Null, Pos: at}})
		return nil
	}
	if all := p.key + ": *"; p.key == "tools" && strings.TrimSpace(string(p.b[p.from:to])) == all {
		// No YAML, and what agents take for every tool.
		p.whole.Members = append(p.whole.Members, doc.Member{Key: p.key, KeyPos: doc.PosAt(p.b, p.from), Value: &doc.Node{Kind: doc.String, Text: "*", Pos: doc.PosAt(p.b, p.from+len(all)-1)}})
		return nil
	}
	n, err := parseFrom(p.name, p.b, p.from, to)
	if err != nil {
		return err
	}
	if len(n.Members) == 0 || n.Members[0].Key != p.key {
		return doc.ErrorAt(p.name, p.b, p.from, "want "+p.key+": and its value")
	}
	p.whole.Members = append(p.whole.Members, n.Members[0])
	return nil
}

// The lines of such a file, where they are looked at as text.

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

func isWhite(c byte) bool { return c == ' ' || c == '\t' }
func isBreak(c byte) bool { return c == '\n' || c == '\r' }

func isBlank(line string) bool { return indentOf(line) == len(line) }

// isDocumentMarker tells whether a line ends a YAML document or begins one.
func isDocumentMarker(line string) bool {
	return strings.HasPrefix(line, "---") || strings.TrimRight(line, " \t") == "..."
}

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
func keyOf(line string, keys []string) (key string, ok bool) {
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
	return key, rest == "" || isWhite(rest[0]) || slices.Contains(keys, key)
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
