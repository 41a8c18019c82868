package spec

import (
	"strings"

	"sbx/internal/doc"
)

// The tree that a document is read into, and what is wrong with one.
type (
	// Node is one value of a document and where it stands.
	Node = doc.Node
	// Member is one key of an Object with its value.
	Member = doc.Member
	// Kind is what a Node is.
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

// lookUp returns the node of a field, or nil where the document has none.
func lookUp(n *Node, f Field) *Node {
	outer, inner, nested := strings.Cut(string(f), ".")
	n = n.Get(outer)
	if nested {
		n = n.Get(inner)
	}
	return n
}

// IsSecretPath tells whether the value at path is never shown: whatever lies
// in environment.set.
func IsSecretPath(path string) bool {
	const set = "environment.set"
	return len(path) > len(set) && strings.HasPrefix(path, set)
}

// Text for people, as package doc has it.

// Shown is text for people, its hidden characters written out.
func Shown(s string) string { return doc.Shown(s) }

// Name is a name as people are shown it: itself or, where a character of it is
// hidden, in double quotes with escapes.
func Name(s string) string { return doc.Name(s) }

// Word is a word of a command line, quoted where a reader would stumble over it bare.
func Word(s string) string { return doc.Word(s) }

func odd(s string) string   { return doc.Word(s) }
func quote(s string) string { return doc.Quote(s) }
func cut(s string) string   { return doc.Cut(s) }
