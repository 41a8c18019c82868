package spec

import (
	"slices"
	"unicode/utf8"

	"sbx/internal/doc"
)

// Line returns a line of a document that sets a field to a list.
func Line(f Field, list []string) string {
	b := append([]byte(f), ": ["...)
	for i, s := range list {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = doc.AppendString(b, s)
	}
	return string(append(b, ']'))
}

// Longer returns the Line of the list with one more item. It is "" if the list has that item
// already, or if no document can express it.
func Longer(f Field, list []string, more string) string {
	if more == "" || !utf8.ValidString(more) || slices.Contains(list, more) {
		return ""
	}
	return Line(f, append(slices.Clip(list), more))
}

// NetworkLine returns a line of a document that sets the whole field network.
func NetworkLine(n *Network) string {
	return string(nodeOf(networkFields)(*n).AppendSpaced([]byte("network: ")))
}
