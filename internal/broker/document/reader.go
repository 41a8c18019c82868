package document

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"sbx/internal/doc"
	"sbx/spec"
)

// parse parses a document and returns its digest.
func parse(name string, text []byte) (root *doc.Node, digest string, err error) {
	if root, err = doc.Parse(name, text); err != nil {
		return nil, "", err
	}
	return root, Digest(root), nil
}

// Digest returns the SHA-256 of a value's canonical form (RFC 8785), in hexadecimal.
func Digest(n *doc.Node) string {
	sum := sha256.Sum256(n.AppendCanonical(nil))
	return doc.Hex(sum[:])
}

// reader keeps the first error of a document.
type reader struct {
	name string
	err  *doc.Error
}

// fields has the function that reads each member of an object.
type fields map[string]func(n *doc.Node, at string)

func (r *reader) fail(n *doc.Node, at, why, help string) {
	if r.err == nil {
		r.err = &doc.Error{Name: r.name, Pos: n.Pos, Field: at, Why: why, Help: help}
	}
}

func (r *reader) want(n *doc.Node, at string, k doc.Kind) bool {
	if n.Kind != k {
		r.fail(n, at, "want "+k.String()+", got "+n.Kind.String(), "")
	}
	return r.err == nil
}

// object reads the members of n. Other members are an error, and so is a missing one of
// needed.
func (r *reader) object(n *doc.Node, at string, known fields, needed ...string) {
	if !r.want(n, at, doc.Object) {
		return
	}
	for i := range n.Members {
		m := &n.Members[i]
		if at == "" && m.Key == "$schema" { // for editors
			continue
		}
		read := known[m.Key]
		if read == nil {
			names := slices.Sorted(maps.Keys(known))
			r.fail(n, doc.Join(at, doc.Cut(m.Key)), "unknown field", "known here: "+strings.Join(names, ", "))
			r.err.Pos, r.err.Meant = m.KeyPos, doc.Nearest(m.Key, names)
			return
		}
		if read(m.Value, doc.Join(at, m.Key)); r.err != nil {
			return
		}
	}
	for _, name := range needed {
		if n.Get(name) == nil {
			r.fail(n, at, doc.Quote(name)+" is missing", "")
		}
	}
}

// each calls read for the items of a list.
func (r *reader) each(n *doc.Node, at string, read func(n *doc.Node, at string)) {
	if !r.want(n, at, doc.List) {
		return
	}
	for i, item := range n.Items {
		if read(item, at+"["+strconv.Itoa(i)+"]"); r.err != nil {
			return
		}
	}
}

// named calls read for the members of an object, whose keys must be names.
func (r *reader) named(n *doc.Node, at string, read func(n *doc.Node, at, name string)) {
	if !r.want(n, at, doc.Object) {
		return
	}
	for _, m := range n.Members {
		if at := doc.Join(at, m.Key); !isName(m.Key) {
			r.fail(m.Value, at, "want a name of 1 to 64 letters, digits, _ and -", "")
		} else if r.err == nil {
			read(m.Value, at, m.Key)
		}
	}
}

func (r *reader) text(to *string) func(*doc.Node, string) {
	return func(n *doc.Node, at string) {
		if r.want(n, at, doc.String) {
			if *to = n.Text; strings.IndexByte(n.Text, 0) >= 0 {
				r.fail(n, at, "there is a NUL in it", "")
			}
		}
	}
}

// word reads a text that must not be empty.
func (r *reader) word(to *string) func(*doc.Node, string) {
	return func(n *doc.Node, at string) {
		if r.text(to)(n, at); r.err == nil && n.Text == "" {
			r.fail(n, at, "want a text that is not empty", "")
		}
	}
}

// id reads a name of a tool, a step or a rule.
func (r *reader) id(to *string) func(*doc.Node, string) {
	return func(n *doc.Node, at string) {
		if r.text(to)(n, at); r.err == nil && !isName(n.Text) {
			r.fail(n, at, "want 1 to 64 letters, digits, _ and -, got "+doc.Quote(doc.Cut(n.Text)), "")
		}
	}
}

func isName(s string) bool {
	for _, c := range []byte(s) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return s != "" && len(s) <= 64
}

func (r *reader) texts(to *[]string) func(*doc.Node, string) {
	return func(n *doc.Node, at string) {
		r.each(n, at, func(n *doc.Node, at string) {
			var s string
			r.text(&s)(n, at)
			*to = append(*to, s)
		})
	}
}

func (r *reader) flag(to *bool) func(*doc.Node, string) {
	return func(n *doc.Node, at string) {
		if r.want(n, at, doc.Bool) {
			*to = n.Text == "true"
		}
	}
}

func (r *reader) whole(to *int64, least int64) func(*doc.Node, string) {
	return func(n *doc.Node, at string) {
		if v, err := strconv.ParseInt(n.Text, 10, 64); n.Kind == doc.Number && err == nil && v >= least && v < 1<<53 {
			*to = v
			return
		}
		r.fail(n, at, "want a whole number ≥ "+strconv.FormatInt(least, 10), "")
	}
}

func (r *reader) number(to **float64) func(*doc.Node, string) {
	return func(n *doc.Node, at string) {
		v, err := strconv.ParseFloat(n.Text, 64)
		if *to = &v; n.Kind != doc.Number || err != nil {
			r.fail(n, at, "want a number, got "+n.Kind.String(), "")
		}
	}
}

func (r *reader) size(to *int64) func(*doc.Node, string) {
	return func(n *doc.Node, at string) {
		if v, ok := spec.ParseBytes(n.Text); ok && n.Kind == doc.String {
			*to = int64(v)
		} else if n.Kind == doc.Number {
			r.whole(to, 0)(n, at)
		} else {
			r.fail(n, at, `want a size such as "8MiB", or a whole number of bytes`, "")
		}
	}
}

func (r *reader) duration(to *time.Duration) func(*doc.Node, string) {
	return func(n *doc.Node, at string) {
		v, ok := spec.ParseDuration(n.Text)
		if *to = v; !ok || n.Kind != doc.String {
			r.fail(n, at, `want a duration such as "30s", "10m" or "1h"`, "")
		}
	}
}

// oneOf reads one of some words.
func (r *reader) oneOf(to *string, words ...string) func(*doc.Node, string) {
	return func(n *doc.Node, at string) {
		if r.text(to)(n, at); r.err == nil && !slices.Contains(words, n.Text) {
			r.fail(n, at, "want "+strings.Join(words, " or ")+", got "+doc.Quote(doc.Cut(n.Text)), "")
			r.err.Meant = doc.Nearest(n.Text, words)
		}
	}
}

func (r *reader) version(n *doc.Node, at string) {
	if n.Kind != doc.Number || n.Text != "1" {
		r.fail(n, at, "want 1, the one version that there is", "")
	}
}

// digest reads 64 hexadecimal digits.
func (r *reader) digest(to *string) func(*doc.Node, string) {
	return func(n *doc.Node, at string) {
		if r.text(to)(n, at); r.err == nil {
			if b, err := hex.DecodeString(n.Text); err != nil || len(b) != sha256.Size || strings.ToLower(n.Text) != n.Text {
				r.fail(n, at, "want a SHA-256 as 64 lower-case hexadecimal digits", "")
			}
		}
	}
}
