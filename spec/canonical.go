package spec

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// AppendCanonical appends the document as canonical JSON (RFC 8785).
func (s *SandboxSpec) AppendCanonical(dst []byte) []byte { return s.Node().AppendCanonical(dst) }

// AppendCanonical appends n as canonical JSON (RFC 8785): keys sorted by their
// UTF-16 code units, numbers as ECMAScript writes them, no blanks. Numbers are
// doubles there, so those that no double holds come out as the nearest.
func (n *Node) AppendCanonical(dst []byte) []byte {
	switch n.Kind {
	case Number:
		f, err := strconv.ParseFloat(n.Text, 64)
		if err != nil || f-f != 0 { // infinite, or not a number: the decoder lets none through
			return append(dst, "null"...)
		}
		return appendNumber(dst, f)
	case List:
		dst = append(dst, '[')
		for i, item := range n.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.AppendCanonical(dst)
		}
		return append(dst, ']')
	case Object:
		members := slices.Clone(n.Members)
		slices.SortFunc(members, func(a, b Member) int { return compareUTF16(a.Key, b.Key) })
		dst = append(dst, '{')
		for i := range members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendString(dst, members[i].Key), ':')
			dst = members[i].Value.AppendCanonical(dst)
		}
		return append(dst, '}')
	}
	return n.appendScalar(dst)
}

// AppendJSON appends n as plain JSON in the document's order; a value whose
// path redact names is replaced by "<redacted>". A nil redact hides nothing.
func (n *Node) AppendJSON(dst []byte, redact func(path string) bool) []byte {
	return n.appendJSON(dst, "", redact)
}

func (n *Node) appendJSON(dst []byte, path string, redact func(string) bool) []byte {
	if redact != nil && redact(path) {
		return append(dst, `"<redacted>"`...)
	}
	switch n.Kind {
	case List:
		dst = append(dst, '[')
		for i, item := range n.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.appendJSON(dst, path+"["+strconv.Itoa(i)+"]", redact)
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for i := range n.Members {
			m := &n.Members[i]
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendString(dst, m.Key), ':')
			dst = m.Value.appendJSON(dst, join(path, m.Key), redact)
		}
		return append(dst, '}')
	}
	return n.appendScalar(dst)
}

// IsSecretPath tells whether the value at path is never shown: whatever lies
// in environment.set.
func IsSecretPath(path string) bool {
	const set = "environment.set"
	return len(path) > len(set) && strings.HasPrefix(path, set)
}

func (n *Node) appendScalar(dst []byte) []byte {
	switch {
	case n.Kind == String:
		return appendString(dst, n.Text)
	case n.Kind == Bool, n.Kind == Number && !strings.HasSuffix(n.Text, "inf") && n.Text != ".nan":
		return append(dst, n.Text...)
	}
	return append(dst, "null"...)
}

// compareUTF16 compares by code units: a character beyond the BMP is a pair
// that begins with 0xD800 to 0xDBFF and so sorts before U+E000 to U+FFFF.
func compareUTF16(a, b string) int {
	unit := func(r rune) rune {
		if r >= 0xE000 && r <= 0xFFFF {
			return r + utf8.MaxRune
		}
		return r
	}
	for a != "" && b != "" {
		ra, na := utf8.DecodeRuneInString(a)
		rb, nb := utf8.DecodeRuneInString(b)
		if ra != rb {
			return cmp.Compare(unit(ra), unit(rb))
		}
		a, b = a[na:], b[nb:]
	}
	return cmp.Compare(len(a), len(b))
}

// appendNumber writes a number as ECMAScript's Number::toString does.
func appendNumber(dst []byte, f float64) []byte {
	if f == 0 {
		return append(dst, '0') // -0 too
	}
	if abs := max(f, -f); abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// Go writes two digits of exponent at least, ECMAScript one.
	if n := len(dst); n-start > 4 && dst[n-4] == 'e' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c >= ' ':
			dst = append(dst, c)
		case c == '\b':
			dst = append(dst, '\\', 'b')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\f':
			dst = append(dst, '\\', 'f')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		default:
			const hex = "0123456789abcdef"
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(dst, '"')
}
