package workshop

import (
	"slices"
	"strings"

	"sbx/internal/doc"
	"sbx/spec"
)

// Files of other programs have keys for sbx among others, whose text is often not YAML. If such a file
// is valid YAML as a whole, sbx reads it so. Otherwise it splits the file at its top-level keys and reads
// each of its own keys alone and strictly. It must never miss one: a duplicate of such a key, or a line
// that could hide one, is an error.

// ownKeys returns an object of those members of b[start:end] that keys names. Places count from the
// beginning of b.
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

// keyMeant returns the key that key was probably meant to be. Only other spellings count: hooks is just
// two letters away from tools.
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

// parseFrom reads b[start:end] as YAML, with places that count in b.
func parseFrom(name string, b []byte, start, end int) (*doc.Node, error) {
	above := strings.Repeat("\n", doc.PosAt(b, start).Line-1)
	return doc.ParseYAML(name, append([]byte(above), b[start:end]...))
}

// pieces reads a file that is not YAML as a whole.
type pieces struct {
	name  string
	b     []byte
	keys  []string
	whole *doc.Node
	key   string // the key of the current piece
	from  int    // where it begins; -1 before the first
}

// inPieces reads b[start:end] by its top-level keys. why is the error of reading it as a whole, which
// inPieces returns if a line could hide a key of sbx.
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

// cut ends the current piece at to. Of other programs' keys it keeps only a few that may be misspelled
// keys of sbx.
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
		// This is not YAML, but means every tool to agents.
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

// Functions that read such a file as lines of text.

// lineAt returns the line at i without its line break, and the start of the next line.
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

// contentAt returns the start of the first line from i on that has more than blanks and a comment;
// len(s) if there is none.
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

// isDocumentMarker reports whether a line begins or ends a YAML document.
func isDocumentMarker(line string) bool {
	return strings.HasPrefix(line, "---") || strings.TrimRight(line, " \t") == "..."
}

// isMarker reports whether a line is just "---".
func isMarker(line string) bool { return strings.TrimRight(line, " \t") == "---" }

// indentOf returns the number of leading blanks. A tab counts as one: the YAML reader rejects it later.
func indentOf(line string) int {
	i := 0
	for i < len(line) && isWhite(line[i]) {
		i++
	}
	return i
}

// keyOf returns the key at the beginning of a line, with or without quotes. A key of sbx counts even
// without the blank after its colon.
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

// mayHideKey reports whether a line could have a key in a form of YAML that keyOf does not recognize:
// explicit, tagged, with an anchor, merged or escaped.
func mayHideKey(line string) bool {
	switch line[0] {
	case '?', '!', '&':
		return true
	case '"':
		return strings.Contains(line, `\`)
	}
	return strings.HasPrefix(line, "<<")
}
