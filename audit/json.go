package audit

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sbx/internal/doc"
	"sbx/spec"
)

// maxString is the maximum length in bytes of a string in a record.
const maxString = 4 << 10

// writer writes a record with a line for each key of the outermost object, and for each object in a
// list directly under it, so that a record reads well in a pager and in a diff.
type writer struct{ doc.Writer }

func recordWriter(dst []byte) writer { return writer{doc.Writer{B: dst, Lines: 1, Text: Kept}} }

// Kept returns a string as a record contains it. A byte that is not UTF-8 becomes the four
// characters \xNN, and a backslash that would be read as the beginning of these becomes \x5c, so
// that different names stay different. A string longer than maxString is cut and ends in "…".
func Kept(s string) string {
	end := ""
	if len(s) > maxString {
		s, end = doc.Clip(s, maxString-len("…")), "…"
	}
	if utf8.ValidString(s) && !strings.Contains(s, `\x`) {
		return s + end
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if _, odd := oddByte(s[i:]); odd || r == utf8.RuneError && size == 1 {
			b.WriteString(`\x` + doc.Hex([]byte(s[i:i+1])))
		} else {
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String() + end
}

// oddByte returns the first byte of a text if Kept must escape it: a byte that is not UTF-8, or
// such a backslash.
func oddByte(s string) (c byte, is bool) {
	if len(s) < 4 || s[:2] != `\x` {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:4], 16, 8)
	return byte(n), err == nil && (n >= utf8.RuneSelf || n == '\\')
}

// readBack reverses Kept, except that a cut string stays cut.
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

// timeLayout is RFC 3339 in UTC, to the millisecond.
const timeLayout = "2006-01-02T15:04:05.000Z"

// keyTime writes a time, unless it is zero.
func (w *writer) keyTime(k string, t time.Time) {
	if t.IsZero() {
		return
	}
	w.Key(k)
	w.B = append(w.B, '"')
	w.B = t.UTC().AppendFormat(w.B, timeLayout)
	w.B = append(w.B, '"')
}

// keyOpt writes a number, if it is set.
func keyOpt[T ~int | ~int64](w *writer, k string, n spec.Opt[T]) {
	if n.Set {
		w.KeyInt(k, int64(n.Value))
	}
}

func (w *writer) keyOptList(k string, l spec.Opt[[]string]) {
	if l.Set {
		w.KeyList(k, l.Value)
	}
}
