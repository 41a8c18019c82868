package workshop

import (
	"slices"
	"strings"

	"sbx/internal/doc"
	"sbx/spec"
)

// Front matter is the YAML between a first line "---" and the next such line; the prompt after it is not
// read. It belongs to other programs: only the keys in frontKeys concern sbx, and the others are often
// not even YAML, as descriptions of agents:
//
//	description: Use this agent when: ...
//	<example>
//	user: "..."
//
// ownKeys reads it for that reason.

// frontKeys are the keys of front matter that concern sbx.
var frontKeys = []string{"name", "tools", "sandbox"}

// front is the part of front matter that concerns sbx.
type front struct {
	root  *doc.Node // has the members of frontKeys that are set
	start int       // where the YAML begins in the file
	end   int       // where the line "---" behind it begins
	warns []spec.Warning
}

// readFront finds and reads the front matter of b. Places count from the
// file's first line.
func readFront(name string, b []byte) (front, error) {
	if err := doc.Check(name, b); err != nil {
		return front{}, err
	}
	f := front{root: &doc.Node{Kind: doc.Object, Pos: doc.Pos{Line: 1, Col: 1}}}
	found, err := f.find(name, b)
	if err != nil {
		return front{}, err
	}
	if !found {
		return f, nil
	}
	f.root, f.warns, err = ownKeys(name, b, f.start, f.end, frontKeys)
	return f, err
}

// find sets start and end.
func (f *front) find(name string, b []byte) (bool, error) {
	s := string(b)
	first, line, next := 0, "", 0
	for first < len(s) {
		if line, next = lineAt(s, first); !isBlank(line) {
			break
		}
		first = next
	}
	key, isKey := keyOf(line, frontKeys)
	switch {
	case isMarker(line) && first > 0:
		return false, doc.ErrorAt(name, b, first, "front matter begins on the first line of a file")
	case isKey && slices.Contains(frontKeys, key):
		err := doc.ErrorAt(name, b, first, "want a line --- above the front matter")
		err.Help = "a text that is not front matter cannot begin with " + key + ":"
		return false, err
	case !isMarker(line) && strings.HasPrefix(line, "---") && strings.Trim(line, "- \t") != "":
		return false, doc.ErrorAt(name, b, first, "want a line of --- alone, got "+doc.Quote(doc.Cut(line)))
	case !isMarker(line):
		return false, nil
	}
	f.start = next
	for i := next; i < len(s); {
		line, after := lineAt(s, i)
		if isMarker(line) {
			f.end = i
			return true, nil
		}
		i = after
	}
	err := doc.ErrorAt(name, b, first, "the front matter that begins here has no end")
	err.Help = "end it with a line ---"
	return false, err
}
