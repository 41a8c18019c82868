package doc

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Writer appends JSON that people can read: it escapes hidden characters, writes a blank after
// each comma and colon, and a line for each entry of the outer levels.
type Writer struct {
	B     []byte
	Lines int                   // how many levels, from the outermost, have a line for each entry
	Text  func(s string) string // if not nil, replaces each key and string

	depth int
	flat  int  // the outermost level that OpenFlat opened; 0 for none
	some  bool // the open list or object has an entry already
}

// Open begins an object ('{') or a list ('[').
func (w *Writer) Open(c byte) {
	w.B = append(w.B, c)
	w.depth++
	w.some = false
}

// OpenFlat begins an object or a list that is written on one line with all its contents.
func (w *Writer) OpenFlat(c byte) {
	w.Open(c)
	if w.flat == 0 {
		w.flat = w.depth
	}
}

// Close ends an object ('}') or a list (']').
func (w *Writer) Close(c byte) {
	lines := w.some && w.onLines()
	if w.flat == w.depth {
		w.flat = 0
	}
	w.depth--
	if lines {
		w.line()
	}
	w.B = append(w.B, c)
	w.some = true
}

// onLines reports whether each entry of the open object or list has its own line.
func (w *Writer) onLines() bool { return w.flat == 0 && w.depth <= w.Lines }

func (w *Writer) line() {
	w.B = append(w.B, '\n')
	for range w.depth {
		w.B = append(w.B, "  "...)
	}
}

// Item begins an item of a list; the caller then writes its value.
func (w *Writer) Item() { w.entry(w.onLines()) }

// Row is Item for a list whose items get a line each even one level below Lines, and whose
// closing bracket then follows the last item on its line.
func (w *Writer) Row() { w.entry(w.flat == 0 && w.depth-1 <= w.Lines) }

func (w *Writer) entry(line bool) {
	if w.some {
		w.B = append(w.B, ',')
	}
	switch {
	case line:
		w.line()
	case w.some:
		w.B = append(w.B, ' ')
	}
	w.some = true
}

// Key begins a member of an object; the caller then writes its value.
func (w *Writer) Key(k string) {
	w.Item()
	w.Str(k)
	w.B = append(w.B, ": "...)
}

// Str writes a string.
func (w *Writer) Str(s string) {
	if w.Text != nil {
		s = w.Text(s)
	}
	w.B = AppendShown(w.B, s)
}

// Int writes a number.
func (w *Writer) Int(n int64) { w.B = strconv.AppendInt(w.B, n, 10) }

// Bool writes true or false.
func (w *Writer) Bool(v bool) { w.B = strconv.AppendBool(w.B, v) }

// KeyOpen begins a member that is an object ('{') or a list ('[').
func (w *Writer) KeyOpen(k string, c byte) { w.Key(k); w.Open(c) }

// KeyStr writes a member that is a string.
func (w *Writer) KeyStr(k, s string) { w.Key(k); w.Str(s) }

// KeyText writes a member that is a string, unless it is empty.
func (w *Writer) KeyText(k, s string) {
	if s != "" {
		w.KeyStr(k, s)
	}
}

// KeyInt writes a member that is a number.
func (w *Writer) KeyInt(k string, n int64) { w.Key(k); w.Int(n) }

// KeyCount writes a member that is a number, unless it is 0.
func (w *Writer) KeyCount(k string, n int64) {
	if n != 0 {
		w.KeyInt(k, n)
	}
}

// KeyBool writes a member that is true or false.
func (w *Writer) KeyBool(k string, v bool) { w.Key(k); w.Bool(v) }

// KeyFlag writes a member that is true, unless v is false.
func (w *Writer) KeyFlag(k string, v bool) {
	if v {
		w.KeyBool(k, true)
	}
}

// KeyList writes a member that is a list of strings.
func (w *Writer) KeyList(k string, list []string) { Values(w, k, list, func(s *string) { w.Str(*s) }) }

// KeyTexts writes a member that is a list of strings, unless it is empty.
func (w *Writer) KeyTexts(k string, list []string) {
	if len(list) > 0 {
		w.KeyList(k, list)
	}
}

// Values writes a member that is a list; each writes one item.
func Values[T any](w *Writer, k string, list []T, each func(*T)) {
	w.KeyOpen(k, '[')
	for i := range list {
		w.Item()
		each(&list[i])
	}
	w.Close(']')
}

// Objects writes a member that is a list of objects; each writes the members of one.
func Objects[T any](w *Writer, k string, list []T, each func(*T)) {
	w.KeyOpen(k, '[')
	for i := range list {
		w.Row()
		w.Open('{')
		each(&list[i])
		w.Close('}')
	}
	w.Close(']')
}

// KeyRaw writes a member whose value v is JSON text.
func (w *Writer) KeyRaw(k, v string) {
	w.Key(k)
	w.B = append(w.B, v...)
}

// AppendShown appends s as a JSON string with hidden characters escaped; bytes that are not
// UTF-8 become U+FFFD.
func AppendShown(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if c >= utf8.RuneSelf && !Hidden(r, size) {
			i += size
			continue
		}
		dst = appendEscape(append(dst, s[from:i]...), r)
		i += size
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}

func appendEscape(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\n':
		return append(dst, `\n`...)
	case '\t':
		return append(dst, `\t`...)
	case '\r':
		return append(dst, `\r`...)
	case utf8.RuneError:
		return utf8.AppendRune(dst, r)
	}
	for _, u := range utf16.AppendRune(nil, r) {
		dst = append(dst, '\\', 'u', hex[u>>12&15], hex[u>>8&15], hex[u>>4&15], hex[u&15])
	}
	return dst
}

const hex = "0123456789abcdef"

// Hex returns b in hexadecimal digits.
func Hex(b []byte) string {
	out := make([]byte, 0, 2*len(b))
	for _, c := range b {
		out = append(out, hex[c>>4], hex[c&15])
	}
	return string(out)
}
