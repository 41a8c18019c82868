package agent

import (
	"strings"
	"unicode/utf8"

	"sbx/internal/doc"
)

// What is kept of strings, in bytes.
const (
	maxString = 4 << 10
	maxName   = 256 // of a tool's name
	maxID     = 256 // of an id, which only tells calls apart
	maxKey    = 64  // of a key that holds escapes; the keys looked for are shorter
)

// clipString is doc.Clip, whose result does not keep a longer one.
func clipString(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.Clone(doc.Clip(s, limit))
}

// unescape resolves the escapes of RFC 8259 until limit bytes are written.
// Half of a surrogate pair and an invalid escape become U+FFFD.
func unescape(s []byte, limit int) []byte {
	out := make([]byte, 0, min(len(s), limit)+utf8.UTFMax)
	for i := 0; i < len(s) && len(out) < limit; {
		if s[i] != '\\' || i+1 == len(s) {
			out = append(out, s[i])
			i++
			continue
		}
		if s[i+1] == 'u' {
			r, size, _ := doc.UnicodeEscape(s[i:])
			out = utf8.AppendRune(out, r)
			i += size
			continue
		}
		if at := strings.IndexByte(`"\/bfnrt`, s[i+1]); at >= 0 {
			out = append(out, "\"\\/\b\f\n\r\t"[at])
		} else {
			out = utf8.AppendRune(out, utf8.RuneError)
		}
		i += 2
	}
	return doc.Clip(out, limit)
}
