package broker

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"sbx/internal/doc"
	"sbx/spec/redact"
)

// minSecret is how long a secret must be: a shorter one stands in texts by chance.
const minSecret = 8

// Redactor knows the forms in which the given secrets may stand in a text: as they are,
// escaped for JSON or a URL, and in base64 at each of the three places that a byte can
// have in it.
type Redactor struct {
	by   [256][]string // the forms by their first byte, the longest first
	most int
}

// NewRedactor makes one for secrets.
func NewRedactor(secrets []string) *Redactor {
	r := &Redactor{}
	add := func(form string) {
		if form == "" || slices.Contains(r.by[form[0]], form) {
			return
		}
		r.by[form[0]] = append(r.by[form[0]], form)
		r.most = max(r.most, len(form))
	}
	for _, s := range secrets {
		add(s)
		quoted, _ := json.Marshal(s) // which escapes < and > as well, as others do not
		add(string(quoted[1 : len(quoted)-1]))
		plain := doc.AppendString(nil, s)
		add(string(plain[1 : len(plain)-1]))
		for _, form := range []string{url.QueryEscape(s), url.PathEscape(s), escaped(s)} {
			add(form)
			add(lowerHex(form))
		}
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			for before := range 3 {
				// What the bytes before and behind share a character with is left out.
				text := e.EncodeToString([]byte(strings.Repeat("\x00", before) + s))
				from := (before*8 + 5) / 6
				add(text[from : (before+len(s))*8/6])
			}
		}
	}
	for _, forms := range r.by {
		slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	}
	return r
}

// escaped is s with each byte written as a URL may, though it need not.
func escaped(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		b.Write([]byte{'%', hex[s[i]>>4], hex[s[i]&15]})
	}
	return b.String()
}

// lowerHex writes the escapes of a URL in small letters.
func lowerHex(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:], strings.ToLower(string(b[i+1:i+3])))
		}
	}
	return string(b)
}

// at is how long the longest form is that b begins with; 0 for none.
func (r *Redactor) at(b []byte) int {
	for _, form := range r.by[b[0]] {
		if len(form) <= len(b) && string(b[:len(form)]) == form {
			return len(form)
		}
	}
	return 0
}

// Text is s without the secrets.
func (r *Redactor) Text(s string) string {
	w := bounded{of: r, max: len(s)*len(redact.Mark) + 1}
	_, _ = w.Write([]byte(s))
	w.finish()
	return string(w.out)
}

// bounded is what a tool writes, without the secrets, and cut.
type bounded struct {
	of    *Redactor
	max   int
	out   []byte
	cut   bool
	held  []byte // what may be the beginning of a secret
	until int    // of held, from its front: what belongs to a secret that was replaced
}

// Write takes a part of it.
func (w *bounded) Write(p []byte) (int, error) {
	w.held = append(w.held, p...)
	w.pass(len(w.held) - max(w.of.most-1, 0))
	return len(p), nil
}

// pass lets the first n bytes that are held go on.
func (w *bounded) pass(n int) {
	if n <= 0 {
		return
	}
	for i := range n {
		length := w.of.at(w.held[i:])
		if length > 0 && i >= w.until {
			w.emit(redact.Mark)
		}
		w.until = max(w.until, i+length)
		if i >= w.until {
			w.emit(string(w.held[i : i+1]))
		}
	}
	w.held = append(w.held[:0], w.held[n:]...)
	w.until = max(w.until-n, 0)
}

func (w *bounded) emit(s string) {
	if w.cut = w.cut || len(w.out)+len(s) > w.max; !w.cut {
		w.out = append(w.out, s...)
	}
}

// finish lets all go on.
func (w *bounded) finish() { w.pass(len(w.held)) }
