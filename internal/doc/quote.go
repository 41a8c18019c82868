package doc

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Hidden tells whether a character that takes size bytes is never shown as itself:
// what a terminal acts on, what reorders text, what nobody sees or takes for a space,
// and bytes that are no UTF-8.
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

// Shown is text for people, its hidden characters written out: \x1b, \u00ad,
// \U000e0041. Backslashes stay as they are: a name in it is written by Name.
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

// escape writes out one character.
func escape(char string) string {
	q := strconv.QuoteToASCII(char)
	return q[1 : len(q)-1]
}

// Name is a name as people are shown it: itself or, where a character of it is
// hidden, in double quotes with escapes. So a backslash in a bare name is the name's.
func Name(s string) string {
	if strings.HasPrefix(s, `"`) || Shown(s) != s {
		return Quote(s)
	}
	return s
}

// Quote puts s into double quotes, odd characters escaped.
func Quote(s string) string { return Shown(strconv.Quote(s)) }

// Word is a word of a command line, quoted where a reader would stumble over it bare.
func Word(s string) string {
	if s == "" || strings.ContainsAny(s, ` "`) {
		return Quote(s)
	}
	return Name(s)
}

// Pad is text and what is missing of a column's width, a blank at least.
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

// Cut keeps a message short where a document is not.
func Cut(s string) string {
	const long = 60
	if len(s) <= long {
		return s
	}
	return Clip(s, long) + "..."
}

// Clip is text of at most n bytes, cut between two characters where it is UTF-8.
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
