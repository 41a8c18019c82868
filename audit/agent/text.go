package agent

import (
	"strings"
	"unicode/utf8"

	"sbx/internal/doc"
)

// Strings are cut at these lengths in bytes.
const (
	maxString = 4 << 10
	maxName   = 256 // of a tool's name
	maxID     = 256 // of an id, which only distinguishes calls
	maxKey    = 64  // of a key with escapes; all keys that matter are shorter
)

// clipString is doc.Clip with a result that does not retain the memory of s.
func clipString(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.Clone(doc.Clip(s, limit))
}

// unescape resolves the escapes of RFC 8259, up to limit bytes of output. A lone surrogate
// and an invalid escape become U+FFFD.
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
