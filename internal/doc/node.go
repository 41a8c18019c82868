package doc

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// MaxBytes is how large a document may be.
const MaxBytes = 1 << 20

// The other bounds of every document.
const (
	maxDepth  = 32
	maxValues = 1 << 16 // 1 MiB could hold eight times as many, and take too long
)

const tooMany = "more than 65536 values"

// Kind is what a Node is.
type Kind uint8

// The kinds of nodes.
const (
	Null Kind = iota + 1
	Bool
	Number
	String
	List
	Object
)

// String names the kind as messages do: "a string", "a list".
func (k Kind) String() string {
	return [...]string{"nothing", "null", "true or false", "a number", "a string", "a list", "an object"}[k]
}

// Pos is a place in a document: line and column count from 1, columns in
// characters. The zero Pos is no place.
type Pos struct{ Line, Col int }

// Node is one value of a document and where it stands.
type Node struct {
	Kind    Kind
	Pos     Pos
	Text    string   // String: its value; Number: as JSON writes it, or .inf, -.inf, .nan; Bool: true or false
	Items   []*Node  // of a List
	Members []Member // of an Object, in the document's order
	// In names the document that Pos counts in, where several were made one;
	// "" where it is the whole document's.
	In string
}

// Member is one key of an Object with its value.
type Member struct {
	Key    string
	KeyPos Pos
	Value  *Node
}

// Get returns the value of key in an Object, or nil.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	for i := range n.Members {
		if n.Members[i].Key == key {
			return n.Members[i].Value
		}
	}
	return nil
}

// last is the value that a List or an Object ends with.
func (n *Node) last() *Node {
	if n.Kind == List {
		return n.Items[len(n.Items)-1]
	}
	return n.Members[len(n.Members)-1].Value
}

// offset marks a place by its byte offset while a document is read; locate
// turns all of them into lines and columns in one pass.
func offset(off int) Pos { return Pos{Line: -1, Col: off} }

// locator counts lines and columns while it walks forward through b.
type locator struct {
	b   []byte
	off int
	pos Pos
}

// at returns the place of off, which must not lie before the last one asked.
func (l *locator) at(off int) Pos {
	for l.off < off && l.off < len(l.b) {
		c, size := l.b[l.off], 1
		if c >= utf8.RuneSelf {
			_, size = utf8.DecodeRune(l.b[l.off:])
		}
		l.off += size
		switch {
		case c == '\n', c == '\r' && (l.off == len(l.b) || l.b[l.off] != '\n'):
			l.pos.Line++
			l.pos.Col = 1
		case c != '\r':
			l.pos.Col++
		}
	}
	return l.pos
}

// PosAt is the place of an offset of b.
func PosAt(b []byte, off int) Pos {
	l := locator{b: b, pos: Pos{1, 1}}
	return l.at(off)
}

// located is a document that was read from b.
func located(b []byte, n *Node) *Node {
	l := locator{b: b, pos: Pos{1, 1}}
	l.locate(n)
	return n
}

// locate replaces the offsets below n by lines and columns. Walked in the
// document's order, offsets never go back.
func (l *locator) locate(n *Node) {
	n.Pos = l.at(n.Pos.Col)
	for _, item := range n.Items {
		l.locate(item)
	}
	for i := range n.Members {
		m := &n.Members[i]
		m.KeyPos = l.at(m.KeyPos.Col)
		l.locate(m.Value)
	}
}

// slab hands out nodes from larger pieces: a document of many small values
// would spend most of its time on allocating each.
type slab struct {
	free  []Node
	size  int
	count int
}

func (s *slab) node(k Kind, off int, text string) *Node {
	if len(s.free) == 0 {
		s.size = min(max(2*s.size, 16), 1024)
		s.free = make([]Node, s.size)
	}
	n := &s.free[0]
	s.free = s.free[1:]
	s.count++
	n.Kind, n.Pos, n.Text = k, offset(off), text
	return n
}

// keySet notices a key that is there twice. Few keys are compared one by one;
// a map is made only where that would become slow.
type keySet struct{ seen map[string]struct{} }

func (k *keySet) add(members []Member, key string) (duplicate bool) {
	const few = 24
	if len(members) < few {
		for i := range members {
			if members[i].Key == key {
				return true
			}
		}
		return false
	}
	if k.seen == nil {
		k.seen = make(map[string]struct{}, 2*few)
		for i := range members {
			k.seen[members[i].Key] = struct{}{}
		}
	}
	if _, ok := k.seen[key]; ok {
		return true
	}
	k.seen[key] = struct{}{}
	return false
}

// twice says that a key is there twice.
func twice(key string) string { return "the key " + Quote(Cut(key)) + " is there twice" }

// Parse reads a document by its name: .yaml and .yml are YAML, .json is JSON; any other is
// JSON where it begins with "{".
func Parse(name string, b []byte) (*Node, error) {
	isYAML := strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
	if strings.HasSuffix(name, ".json") || !isYAML && bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("{")) {
		return ParseJSON(name, b)
	}
	return ParseYAML(name, b)
}

// Check refuses what no reader takes, before it is read.
func Check(name string, b []byte) *Error {
	if len(b) > MaxBytes {
		return &Error{Name: name, Why: "larger than 1 MiB"}
	}
	if len(b) >= 3 && b[0] == 0xEF && b[1] == 0xBB && b[2] == 0xBF {
		return &Error{Name: name, Pos: Pos{1, 1}, Why: "begins with a byte order mark", Help: "save it as UTF-8 without one"}
	}
	if off := invalidUTF8(b); off >= 0 {
		return ErrorAt(name, b, off, "not valid UTF-8")
	}
	return nil
}

func invalidUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}
