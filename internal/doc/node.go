package doc

import "unicode/utf8"

// Kind is the type of a Node.
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

// Pos is a place in a document: its line and its column in characters, both from 1. The zero
// Pos means no place.
type Pos struct{ Line, Col int }

// Node is one value of a document and its place.
type Node struct {
	Kind    Kind
	Pos     Pos
	Text    string   // String: its value; Number: as JSON writes it, or .inf, -.inf, .nan; Bool: true or false
	Items   []*Node  // of a List
	Members []Member // of an Object, in the document's order
	// In is the name of the document that Pos counts in, if the tree was merged from several;
	// "" for the document's own name.
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

// last returns the last value of a List or an Object.
func (n *Node) last() *Node {
	if n.Kind == List {
		return n.Items[len(n.Items)-1]
	}
	return n.Members[len(n.Members)-1].Value
}

// offset returns a Pos that holds a byte offset. Readers use it while they read; at the end
// locate replaces all of them by lines and columns in one pass.
func offset(off int) Pos { return Pos{Line: -1, Col: off} }

// locator counts lines and columns on its way forward through b.
type locator struct {
	b   []byte
	off int
	pos Pos
}

// at returns the place of off, which must not be smaller than in the last call.
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

// PosAt returns the place of the byte at offset off of b.
func PosAt(b []byte, off int) Pos {
	l := locator{b: b, pos: Pos{1, 1}}
	return l.at(off)
}

// located returns n, which was read from b, with lines and columns for offsets.
func located(b []byte, n *Node) *Node {
	l := locator{b: b, pos: Pos{1, 1}}
	l.locate(n)
	return n
}

// locate replaces the offsets in n and its values by lines and columns. It visits them in the
// order of the document, so that the offsets only grow.
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

// slab allocates many nodes at once: allocating each one by itself would take most of the
// time for a document of many small values.
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

// keySet finds duplicate keys of an object. It compares the first few keys one by one and
// builds a map only for large objects.
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

// twice returns the message about a duplicate key.
func twice(key string) string { return "the key " + Quote(Cut(key)) + " is there twice" }
