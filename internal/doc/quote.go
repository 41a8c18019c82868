package doc

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Hidden reports whether a character of size bytes must be escaped when it is shown to people:
// control characters, those that reorder text, invisible ones and odd spaces, and bytes that
// are not UTF-8.
func Hidden(r rune, size int) bool {
	switch {
	case r == utf8.RuneError:
		return size == 1
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef, r >= 0x180b && r <= 0x180f: // variation selectors
		return true
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0: // joiner, fillers, silent vowels
		return true
	case r == 0x2800: // a braille pattern without dots
		return true
	}
	return !strconv.IsPrint(r)
}

// Shown returns text for people, with hidden characters escaped: \x1b, \u00ad, \U000e0041. It
// leaves backslashes as they are; use Name where the difference between a backslash of the text
// and one of an escape matters.
func Shown(s string) string {
	from := 0
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		if Hidden(r, size) {
			b.WriteString(s[from:i])
			b.WriteString(escape(s[i : i+size]))
			from = i + size
		}
		i += size
	}
	if from == 0 {
		return s
	}
	return b.String() + s[from:]
}

// escape returns the escape of one character.
func escape(char string) string {
	q := strconv.QuoteToASCII(char)
	return q[1 : len(q)-1]
}

// Name returns a name for people: unchanged or, if it has a hidden character, in double quotes
// with escapes. So a backslash outside quotes always belongs to the name.
func Name(s string) string {
	if strings.HasPrefix(s, `"`) || Shown(s) != s {
		return Quote(s)
	}
	return s
}

// Quote returns s in double quotes, with hidden characters escaped.
func Quote(s string) string { return Shown(strconv.Quote(s)) }

// Word returns a word of a command line for people, quoted if it is empty or has blanks,
// quotes or hidden characters.
func Word(s string) string {
	if s == "" || strings.ContainsAny(s, ` "`) {
		return Quote(s)
	}
	return Name(s)
}

// Pad appends blanks to s up to width bytes, at least one.
func Pad(s string, width int) string { return s + strings.Repeat(" ", max(width-len(s), 1)) }

// Roff escapes text for man(7).
func Roff(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\e`), "-", `\-`)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}

// Cut shortens text of a document for a message.
func Cut(s string) string {
	const long = 60
	if len(s) <= long {
		return s
	}
	return Clip(s, long) + "..."
}

// Clip shortens s to at most n bytes without cutting through a UTF-8 character.
func Clip[T string | []byte](s T, n int) T {
	if len(s) <= n {
		return s
	}
	for i := n; i > max(n-utf8.UTFMax, 0); i-- {
		if utf8.RuneStart(s[i]) {
			return s[:i]
		}
	}
	return s[:n]
}

// quoteAt quotes the character at off.
func quoteAt(b []byte, off int) string {
	if off >= len(b) {
		return "the end of the document"
	}
	r, _ := utf8.DecodeRune(b[off:])
	return Quote(string(r))
}
