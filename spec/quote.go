package spec

import (
	"strconv"
	"unicode/utf8"
)

// quote puts s into double quotes, odd characters escaped.
func quote(s string) string { return strconv.Quote(s) }

// odd quotes s only where a reader would stumble over it bare.
func odd(s string) string {
	if s == "" {
		return `""`
	}
	for _, r := range s {
		if r <= ' ' || r == '"' || r == utf8.RuneError || !strconv.IsPrint(r) {
			return quote(s)
		}
	}
	return s
}

// cut keeps a message short where a document is not.
func cut(s string) string {
	const long = 60
	if len(s) <= long {
		return s
	}
	end := long
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "..."
}

// quoteAt quotes the character at off.
func quoteAt(b []byte, off int) string {
	if off >= len(b) {
		return "the end of the document"
	}
	r, _ := utf8.DecodeRune(b[off:])
	return quote(string(r))
}
