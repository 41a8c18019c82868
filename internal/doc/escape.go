package doc

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// UnicodeEscape reads \uXXXX, or a surrogate pair of two of them, at the beginning of b, and
// returns the size of the escape. If the escape is invalid, why is the reason, r is U+FFFD, and
// size is the number of bytes that U+FFFD replaces.
func UnicodeEscape(b []byte) (r rune, size int, why string) {
	hi, ok := hexRune(b[min(2, len(b)):], 4)
	switch {
	case !ok:
		return utf8.RuneError, 2, "want four hexadecimal digits after \\u"
	case !utf16.IsSurrogate(hi):
		return hi, 6, ""
	}
	if len(b) > 8 && b[6] == '\\' && b[7] == 'u' {
		if lo, ok := hexRune(b[8:], 4); ok {
			r = utf16.DecodeRune(hi, lo)
		}
	}
	if r == 0 || r == utf8.RuneError {
		return utf8.RuneError, 6, "half of a surrogate pair"
	}
	return r, 12, ""
}

// hexRune reads n hexadecimal digits at the beginning of b.
func hexRune(b []byte, n int) (rune, bool) {
	if len(b) < n {
		return 0, false
	}
	v, err := strconv.ParseUint(string(b[:n]), 16, 32)
	return rune(v), err == nil
}
