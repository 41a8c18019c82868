package broker

import (
	"strings"

	"sbx/internal/doc"
	"sbx/spec/redact"
)

// The bounds of a secret's length: a shorter one stands in texts by chance, and a longer
// one is no credential.
const (
	minSecret = 8
	maxSecret = 64 << 10
)

// Redactor knows what the given secrets look like in each of the encodings.
type Redactor struct {
	by [256][]*pattern // by each first byte that it may have
}

// pattern is one secret in one encoding.
type pattern struct {
	units string
	of    *encoding
}

// NewRedactor makes one for secrets.
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

// begins tells whether the secret may begin with b, looking two bytes far.
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

// at is how long the secret is that b begins with; 0 for none, more where b ends too
// soon to tell.
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

// at is how long the longest secret is that b begins with. It is more where that cannot
// be told, unless b is the end.
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

// Text is s without the secrets.
func (r *Redactor) Text(s string) string {
	w := bounded{of: r, max: len(s)*len(redact.Mark) + 1}
	_, _ = w.Write([]byte(s))
	w.finish()
	return string(w.out)
}

// maxSaid is how much of a caller's words a reason and its like repeat.
const maxSaid = 1000

// said is a text with a caller's or a tool's words in it, without the secrets, and short.
// It is cut last: half of a secret is in no encoding.
func (r *Redactor) said(s string) string { return doc.Clip(r.Text(s), maxSaid) }

// verdict takes the secrets out of what is said of a call.
func (r *Redactor) verdict(v *Verdict) {
	v.reason, v.allowWith = r.said(v.reason), r.said(v.allowWith)
	for i := range v.needs {
		v.needs[i] = r.said(v.needs[i])
	}
}

// result takes them out of what is said of its result; what a tool wrote has none.
func (r *Redactor) result(of *Result) {
	of.Reason = r.said(of.Reason)
	for i := range of.Unexpected {
		of.Unexpected[i] = r.said(of.Unexpected[i])
	}
	for i := range of.Artifacts {
		of.Artifacts[i].Path = r.said(of.Artifacts[i].Path)
	}
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
	if !w.cut {
		w.held = append(w.held, p...)
		w.pass(false)
	}
	return len(p), nil
}

// pass lets go on what is known to be the beginning of no secret.
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

// mark stands for a secret, whole or not at all.
func (w *bounded) mark() {
	if w.cut = w.cut || len(w.out)+len(redact.Mark) > w.max; !w.cut {
		w.out = append(w.out, redact.Mark...)
	}
}

// finish lets all go on.
func (w *bounded) finish() { w.pass(true) }
