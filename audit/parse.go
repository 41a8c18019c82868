package audit

import (
	"errors"

	"sbx/internal/doc"
	"sbx/spec"
)

// The bounds of a record that is read back. It may be larger and deeper than
// a spec, which it holds, so that spec's reader would refuse it.
const (
	maxRecord = 32 << 20
	maxNested = 64
)

// View is a record as it was read back. Keys that this version does not know
// are in Node and are otherwise passed over.
type View struct {
	Node  *spec.Node
	State string // as written; Derive finds out more
}

// Parse reads a record.
func Parse(b []byte) (View, error) {
	if len(b) > maxRecord {
		return View{}, errors.New("larger than any record")
	}
	n, err := doc.ParseLaxJSON("record", b, maxNested)
	if err != nil {
		return View{}, err
	}
	v := View{Node: n, State: text(n.Get("state"))}
	if n.Get("record_version") == nil || v.State == "" {
		return View{}, errors.New("not a record: record_version and state are missing")
	}
	return v, nil
}

// text is a string's value, and "" of anything else.
func text(n *spec.Node) string {
	if n == nil || n.Kind != spec.String {
		return ""
	}
	return readBack(n.Text)
}

// whole is a whole number's value.
func whole(n *spec.Node) spec.Opt[int64] {
	v, ok := doc.Whole(n)
	return spec.Opt[int64]{Value: v, Set: ok}
}
