package spec

import (
	"slices"
	"unicode/utf8"

	"sbx/internal/doc"
)

// Line is a field with a list for its value, as a document has it.
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

// Longer is the line in which a list names one thing more: what stands there now stays.
// It is "" where the list has that already, and for a name that no document can spell.
func Longer(f Field, list []string, more string) string {
	if more == "" || !utf8.ValidString(more) || slices.Contains(list, more) {
		return ""
	}
	return Line(f, append(slices.Clip(list), more))
}

// NetworkLine is the whole field network, as a document has it.
func NetworkLine(n *Network) string {
	return string(nodeOf(networkFields)(*n).AppendSpaced([]byte("network: ")))
}
