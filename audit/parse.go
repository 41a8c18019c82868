package audit

import (
	"errors"
	"time"

	"sbx/internal/doc"
	"sbx/spec"
)

// These bound a record that is read back. It may be larger and deeper than the documents that it
// contains, so spec's own bounds would be too small.
const (
	maxRecord = 32 << 20
	maxNested = 64
)

// View is a record that was read back. Node also contains keys that this version does not know.
type View struct {
	Node  *spec.Node
	State string // as written; see Settled
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
	v := View{Node: n, State: Text(n.Get("state"))}
	if n.Get("record_version") == nil || v.State == "" {
		return View{}, errors.New("not a record: record_version and state are missing")
	}
	return v, nil
}

// ID returns the id of the run.
func (v View) ID() string { return Text(v.Node.Get("id")) }

// IsRunning reports whether, according to the record, the run is still running.
func (v View) IsRunning() bool { return v.State == StateRunning }

// Denials returns how many calls were denied. known is false if nothing could have seen any.
func (v View) Denials() (count int64, known bool) {
	n := v.Node
	for _, d := range doc.Items(n.Get("violations")) {
		count += Whole(d.Get("count")).Or(1)
	}
	count += Whole(n.Get("violations_omitted")).Or(0)
	return count, count > 0 || len(doc.Items(n.Get("observed_kinds"))) > 0
}

// Text returns the value of a string as it was before it was written to a record, "" for any other
// node.
func Text(n *spec.Node) string {
	if n == nil || n.Kind != spec.String {
		return ""
	}
	return readBack(n.Text)
}

// Whole returns the value of a whole number, absent for any other node.
func Whole(n *spec.Node) spec.Opt[int64] {
	v, ok := doc.Whole(n)
	return spec.Opt[int64]{Value: v, Set: ok}
}

// Time returns the value of a time, zero for any other node.
func Time(n *spec.Node) time.Time {
	at, _ := time.Parse(timeLayout, Text(n))
	return at
}
