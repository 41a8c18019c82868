package spec

import (
	"strings"

	"sbx/internal/doc"
)

// The tree of a document, and the error about one.
type (
	// Node is one value of a document and its place.
	Node = doc.Node
	// Member is one key of an Object with its value.
	Member = doc.Member
	// Kind is the type of a Node.
	Kind = doc.Kind
	// Pos is a place in a document.
	Pos = doc.Pos
	// DecodeError says what is wrong with a document, and where.
	DecodeError = doc.Error
)

// The kinds of nodes.
const (
	Null   = doc.Null
	Bool   = doc.Bool
	Number = doc.Number
	String = doc.String
	List   = doc.List
	Object = doc.Object
)

// AppendCanonical appends the document as canonical JSON (RFC 8785).
func (s *SandboxSpec) AppendCanonical(dst []byte) []byte { return s.Node().AppendCanonical(dst) }

// lookUp returns the node of a field; nil if the document does not set it.
func lookUp(n *Node, f Field) *Node {
	outer, inner, nested := strings.Cut(string(f), ".")
	n = n.Get(outer)
	if nested {
		n = n.Get(inner)
	}
	return n
}

// IsSecretPath reports whether the value at path must never be shown: it is in environment.set.
func IsSecretPath(path string) bool {
	const set = "environment.set"
	return len(path) > len(set) && strings.HasPrefix(path, set)
}

// Text for people, as package doc has it.

// Shown returns text for people, with hidden characters escaped.
func Shown(s string) string { return doc.Shown(s) }

// Name returns a name for people: unchanged or, if it has a hidden character, in double quotes with
// escapes.
func Name(s string) string { return doc.Name(s) }

// Word returns a word of a command line for people, quoted if it is empty or has blanks, quotes or
// hidden characters.
func Word(s string) string { return doc.Word(s) }

func odd(s string) string   { return doc.Word(s) }
func quote(s string) string { return doc.Quote(s) }
func cut(s string) string   { return doc.Cut(s) }
