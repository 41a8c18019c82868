package broker

import (
	"strings"

	"sbx/internal/doc"
	"sbx/spec/redact"
)

// The bounds of a secret's length: a shorter one occurs in texts by chance, and a longer
// one is not a credential.
const (
	minSecret = 8
	maxSecret = 64 << 10
)

// Redactor finds secrets in each of the encodings.
type Redactor struct {
	by [256][]*pattern // by each possible first byte
}

// pattern is one secret in one encoding.
type pattern struct {
	units string
	of    *encoding
}

// NewRedactor makes a Redactor for secrets.
func NewRedactor(secrets []string) *Redactor {
	r := &Redactor{}
	for _, s := range secrets {
		for i := range encodings {
			for _, units := range encodings[i].units(s) {
				r.add(&pattern{units, &encodings[i]})
			}
		}
	}
	return r
}

func (r *Redactor) add(p *pattern) {
	for c := range r.by {
		if p.begins([]byte{byte(c)}) {
			r.by[c] = append(r.by[c], p)
		}
	}
}

// begins reports whether the secret may begin with b, of at most two bytes.
func (p *pattern) begins(b []byte) bool {
	unit, n := p.of.next(b)
	if n != more || len(b) > 1 {
		return n == more || n > 0 && strings.HasPrefix(p.units, unit)
	}
	for c := range 256 {
		if p.begins(append(b, byte(c))) {
			return true
		}
	}
	return false
}

// at returns the length of the secret at the start of b; 0 for none, more if b ends too
// early to tell.
func (p *pattern) at(b []byte) int {
	at := 0
	for left := p.units; left != ""; {
		if at > 0 {
			at += gap(b[at:], p.of.gaps)
		}
		if at == len(b) {
			return more
		}
		unit, n := p.of.next(b[at:])
		if n == more {
			return more
		}
		if n == 0 || !strings.HasPrefix(left, unit) {
			return 0
		}
		at, left = at+n, left[len(unit):]
	}
	return at
}

// at returns the length of the longest secret at the start of b; more if b ends too early
// to tell, unless b is the end of the text.
func (r *Redactor) at(b []byte, end bool) (longest int) {
	for _, p := range r.by[b[0]] {
		n := p.at(b)
		if n == more && !end {
			return more
		}
		longest = max(longest, n)
	}
	return longest
}

// Text returns s without the secrets.
func (r *Redactor) Text(s string) string {
	w := bounded{of: r, max: len(s)*len(redact.Mark) + 1}
	_, _ = w.Write([]byte(s))
	w.finish()
	return string(w.out)
}

// maxSaid is how many bytes of a caller's text are repeated in a reason or another
// message.
const maxSaid = 1000

// quoted removes the secrets from a text that quotes a caller or a tool, and shortens it. It
// shortens last: half of a secret would not be recognized.
func (r *Redactor) quoted(s string) string { return doc.Clip(r.Text(s), maxSaid) }

// verdict removes the secrets from a verdict.
func (r *Redactor) verdict(v *Verdict) {
	v.reason, v.allowWith = r.quoted(v.reason), r.quoted(v.allowWith)
	for i := range v.needs {
		v.needs[i] = r.quoted(v.needs[i])
	}
}

// result removes them from the messages of a result; a tool's output has none any more.
func (r *Redactor) result(of *Result) {
	of.Reason = r.quoted(of.Reason)
	for i := range of.Unexpected {
		of.Unexpected[i] = r.quoted(of.Unexpected[i])
	}
	for i := range of.Artifacts {
		of.Artifacts[i].Path = r.quoted(of.Artifacts[i].Path)
	}
}

// bounded takes a tool's output, without the secrets and up to max bytes.
type bounded struct {
	of    *Redactor
	max   int
	out   []byte
	cut   bool
	held  []byte // bytes that may be the beginning of a secret
	until int    // how many bytes at the front of held belong to a secret that was replaced
}

// Write takes a part of the output.
func (w *bounded) Write(p []byte) (int, error) {
	if !w.cut {
		w.held = append(w.held, p...)
		w.pass(false)
	}
	return len(p), nil
}

// pass moves on the bytes that cannot begin a secret.
func (w *bounded) pass(end bool) {
	i := 0
	for ; i < len(w.held); i++ {
		if len(w.of.by[w.held[i]]) == 0 {
			continue
		}
		length := w.of.at(w.held[i:], end)
		if length == more {
			break
		}
		if length == 0 {
			continue
		}
		if i >= w.until {
			w.emit(w.held[w.until:i])
			w.mark()
		}
		w.until = max(w.until, i+length)
	}
	if w.until < i {
		w.emit(w.held[w.until:i])
	}
	w.held = append(w.held[:0], w.held[i:]...)
	w.until = max(w.until-i, 0)
}

func (w *bounded) emit(b []byte) {
	if w.cut {
		return
	}
	n := min(len(b), w.max-len(w.out))
	w.out, w.cut = append(w.out, b[:n]...), n < len(b)
}

// mark writes the mark for a secret, whole or not at all.
func (w *bounded) mark() {
	if w.cut = w.cut || len(w.out)+len(redact.Mark) > w.max; !w.cut {
		w.out = append(w.out, redact.Mark...)
	}
}

// finish moves on the rest.
func (w *bounded) finish() { w.pass(true) }
