package audit

import (
	"strings"
	"time"

	"sbx/internal/doc"
	"sbx/spec/redact"
)

// The most paths that a record lists as opened to write, and the most bytes of them.
const (
	maxOpenings     = 500
	maxOpeningBytes = 64 << 10
)

// Opening is a path that a call which was let through may have written.
type Opening struct {
	At     time.Time // of the first of those calls
	Path   string    // as it is inside, redacted
	Action string    // of the first
	Count  int
}

// Openings gathers them in bounded space.
type Openings struct {
	list    []Opening
	index   map[string]int // by the path as it is
	bytes   int
	omitted int
}

// Add takes one more call. path's bytes may change after it.
func (o *Openings) Add(path, action string) {
	if i, known := o.index[path]; known {
		o.list[i].Count++
		return
	}
	if len(o.list) == maxOpenings || o.bytes >= maxOpeningBytes {
		o.omitted++
		return
	}
	if o.index == nil {
		o.index = map[string]int{}
	}
	path = strings.Clone(path)
	o.index[path] = len(o.list)
	o.bytes += len(path)
	o.list = append(o.list, Opening{At: time.Now(), Path: redact.Text(Clip(path)), Action: action, Count: 1})
}

// Omit counts a call whose path is not known.
func (o *Openings) Omit() { o.omitted++ }

func (o *Openings) append(w *writer) {
	doc.Objects(&w.Writer, "opened_to_write", o.list, func(p *Opening) {
		w.keyTime("at", p.At)
		w.KeyStr("path", p.Path)
		w.KeyStr("action", p.Action)
		w.KeyInt("count", int64(p.Count))
	})
	w.KeyCount("opened_to_write_omitted", int64(o.omitted))
}
