package audit

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"sbx/spec"
)

// maxString is the most bytes of one string that a record keeps.
const maxString = 4 << 10

// writer appends JSON: a line for each key of the outermost object and for
// each object in a list directly beneath it, so that a record reads well in a
// pager and in a diff.
type writer struct {
	b     []byte
	depth int
	comma bool
}

func (w *writer) open(c byte) {
	w.b = append(w.b, c)
	w.depth++
	w.comma = false
}

func (w *writer) close(c byte) {
	w.depth--
	if w.depth == 0 {
		w.b = append(w.b, '\n')
	}
	w.b = append(w.b, c)
	w.comma = true
}

// key is a key that docs/record.md names.
func (w *writer) key(k string) {
	w.member()
	w.b = append(w.b, '"')
	w.b = append(w.b, k...)
	w.b = append(w.b, `": `...)
}

// name is a key that is data: it is escaped as a string is.
func (w *writer) name(k string) {
	w.member()
	w.b = appendString(w.b, k)
	w.b = append(w.b, ": "...)
}

// member stands before a key in an object.
func (w *writer) member() {
	if w.comma {
		w.b = append(w.b, ',')
	}
	switch {
	case w.depth == 1:
		w.b = append(w.b, "\n  "...)
	case w.comma:
		w.b = append(w.b, ' ')
	}
	w.comma = false
}

// item stands before a value in a list.
func (w *writer) item() {
	if w.comma {
		w.b = append(w.b, ", "...)
	}
	w.comma = false
}

// line stands before an object in a list.
func (w *writer) line() {
	if w.depth != 2 {
		w.item()
		return
	}
	if w.comma {
		w.b = append(w.b, ',')
	}
	w.b = append(w.b, "\n    "...)
	w.comma = false
}

func (w *writer) str(s string) {
	w.b = appendString(w.b, s)
	w.comma = true
}

func (w *writer) num(n int64) {
	w.b = strconv.AppendInt(w.b, n, 10)
	w.comma = true
}

func (w *writer) bool(v bool) {
	w.b = strconv.AppendBool(w.b, v)
	w.comma = true
}

// raw appends what is JSON already.
func (w *writer) raw(b []byte) {
	w.b = append(w.b, b...)
	w.comma = true
}

func (w *writer) keyStr(k, s string) { w.key(k); w.str(s) }

// keyText leaves an empty string out: it stands for unknown.
func (w *writer) keyText(k, s string) {
	if s != "" {
		w.keyStr(k, s)
	}
}

func (w *writer) keyNum(k string, n int64) { w.key(k); w.num(n) }

func (w *writer) keyList(k string, list []string) {
	w.key(k)
	w.open('[')
	for _, s := range list {
		w.item()
		w.str(s)
	}
	w.close(']')
}

const hexDigits = "0123456789abcdef"

// hexOf is bytes in hex.
func hexOf(s string) string {
	out := make([]byte, 0, 2*len(s))
	for i := range len(s) {
		out = append(out, hexDigits[s[i]>>4], hexDigits[s[i]&15])
	}
	return string(out)
}

// appendString appends s as a JSON string (RFC 8259, section 7), hidden characters
// escaped. A byte that is not UTF-8 becomes the four characters \xNN, and a backslash
// before what would be read as such \x5c, so that two odd names stay two names. A
// string longer than maxString is cut and ends in "…".
func appendString(dst []byte, s string) []byte {
	cut := false
	if len(s) > maxString {
		s, cut = s[:runeStart(s, maxString-len("…"))], true
	}
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if c >= utf8.RuneSelf && !spec.Hidden(r, size) {
			i += size
			continue
		}
		dst = append(dst, s[from:i]...)
		if _, is := oddByte(s[i:]); is {
			dst = append(dst, `\\x5c`...)
		} else {
			dst = appendEscape(dst, r, size, c)
		}
		i += size
		from = i
	}
	dst = append(dst, s[from:]...)
	if cut {
		dst = append(dst, "…"...)
	}
	return append(dst, '"')
}

// oddByte is the byte that a text begins with as a record has it: one that is not
// UTF-8, or a backslash.
func oddByte(s string) (c byte, is bool) {
	if len(s) < 4 || s[:2] != `\x` {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:4], 16, 8)
	return byte(n), err == nil && (n >= utf8.RuneSelf || n == '\\')
}

// readBack is the text that appendString wrote.
func readBack(s string) string {
	var b strings.Builder
	from := 0
	for i := 0; i < len(s); i++ {
		if c, is := oddByte(s[i:]); is {
			b.WriteString(s[from:i])
			b.WriteByte(c)
			i += 3
			from = i + 1
		}
	}
	return b.String() + s[from:]
}

// runeStart is the last place at or before at where no character is cut.
func runeStart(s string, at int) int {
	for i := at; i > 0 && i > at-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			return i
		}
	}
	return at
}

func appendEscape(dst []byte, r rune, size int, c byte) []byte {
	switch {
	case r == utf8.RuneError && size == 1:
		return append(dst, '\\', '\\', 'x', hexDigits[c>>4], hexDigits[c&15])
	case c == '"' || c == '\\':
		return append(dst, '\\', c)
	case c == '\n':
		return append(dst, `\n`...)
	case c == '\t':
		return append(dst, `\t`...)
	case c == '\r':
		return append(dst, `\r`...)
	}
	for _, u := range utf16.AppendRune(nil, r) {
		dst = append(dst, '\\', 'u', hexDigits[u>>12&15], hexDigits[u>>8&15], hexDigits[u>>4&15], hexDigits[u&15])
	}
	return dst
}
