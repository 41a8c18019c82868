package doc

import "unicode/utf8"

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
