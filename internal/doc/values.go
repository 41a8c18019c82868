package doc

import "strconv"

// Text returns the value of a string; "" for any other node and for nil.
func Text(n *Node) string {
	if n == nil || n.Kind != String {
		return ""
	}
	return n.Text
}

// Texts returns the values of a list of strings.
func Texts(n *Node) (all []string) {
	for _, item := range Items(n) {
		all = append(all, Text(item))
	}
	return all
}

// Whole returns the value of a whole number; false for any other node.
func Whole(n *Node) (v int64, ok bool) {
	if n == nil || n.Kind != Number {
		return 0, false
	}
	v, err := strconv.ParseInt(n.Text, 10, 64)
	return v, err == nil
}

// Str returns a string node.
func Str(s string) *Node { return &Node{Kind: String, Text: s} }

// Int returns a number node.
func Int(v int64) *Node { return &Node{Kind: Number, Text: strconv.FormatInt(v, 10)} }

// Truth returns a node that is true or false.
func Truth(v bool) *Node { return &Node{Kind: Bool, Text: strconv.FormatBool(v)} }

// ListOf returns a list node.
func ListOf(items ...*Node) *Node { return &Node{Kind: List, Items: items} }

// Strs returns a list of strings.
func Strs(all []string) *Node {
	n := ListOf()
	for _, s := range all {
		n.Items = append(n.Items, Str(s))
	}
	return n
}
