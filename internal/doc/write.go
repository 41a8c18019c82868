package doc

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// AppendCanonical appends n as canonical JSON (RFC 8785): keys sorted by their UTF-16 code
// units, numbers as ECMAScript writes them, no blanks. A number that is not a double is
// rounded to the nearest one.
func (n *Node) AppendCanonical(dst []byte) []byte {
	v := jsontext.Value(n.AppendJSON(nil, nil))
	_ = v.Canonicalize(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) // it is JSON
	return append(dst, v...)
}

// AppendSpaced appends n as JSON on one line, with a blank after each comma and colon.
func (n *Node) AppendSpaced(dst []byte) []byte {
	v := jsontext.Value(n.AppendJSON(nil, nil))
	_ = v.Format(jsontext.SpaceAfterComma(true), jsontext.SpaceAfterColon(true), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) // it is JSON
	return append(dst, v...)
}

// AppendIndented appends n as indented JSON of several lines.
func (n *Node) AppendIndented(dst []byte) []byte {
	v := jsontext.Value(n.AppendJSON(nil, nil))
	_ = v.Indent(jsontext.WithIndent("  "), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) // it is JSON
	return append(dst, v...)
}

// AppendJSON appends n as compact JSON in the document's order. It writes "<redacted>" for a
// value if redact returns true for its path; redact may be nil.
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
			dst = append(AppendString(dst, m.Key), ':')
			dst = m.Value.appendJSON(dst, Join(path, m.Key), redact)
		}
		return append(dst, '}')
	case String:
		return AppendString(dst, n.Text)
	case Bool:
		return append(dst, n.Text...)
	case Number:
		if !strings.HasSuffix(n.Text, "inf") && n.Text != ".nan" {
			return append(dst, n.Text...)
		}
	}
	return append(dst, "null"...)
}

// Join returns the path of the member key of the object at path.
func Join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// AppendNumber appends a number in the form of RFC 8785.
func AppendNumber(dst []byte, f float64) []byte {
	return jsontext.AppendFloat(dst, f+0, 64) // +0 turns -0 into 0
}

// AppendString appends s as a JSON string in the form of RFC 8785; bytes that are not UTF-8
// become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // the error only reports such bytes
	return dst
}
