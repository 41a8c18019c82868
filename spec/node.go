package spec

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
	switch k {
	case Null:
		return "null"
	case Bool:
		return "true or false"
	case Number:
		return "a number"
	case String:
		return "a string"
	case List:
		return "a list"
	case Object:
		return "an object"
	}
	return "nothing"
}

// Pos is a place in a document: line and column count from 1, columns in
// characters. The zero Pos is no place.
type Pos struct{ Line, Col int }

// Node is one value of a document and where it stands.
type Node struct {
	Kind    Kind
	Pos     Pos
	Text    string   // String: its value; Number: as a JSON number; Bool: "true" or "false"
	Items   []*Node  // of a List
	Members []Member // of an Object, in the document's order
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
