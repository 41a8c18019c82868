package audit

import (
	"strings"
	"time"

	"sbx/internal/doc"
	"sbx/spec/redact"
)

// These bound the list of paths opened for writing: their number, and their bytes.
const (
	maxOpenings     = 500
	maxOpeningBytes = 64 << 10
)

// Opening is a path that an allowed call may have written.
type Opening struct {
	At     time.Time // of the first such call
	Path   string    // inside the sandbox, redacted
	Action string    // of the first
	Count  int
}

// Openings collects openings in bounded space.
type Openings struct {
	list    []Opening
	index   map[string]int // by the path before redaction
	bytes   int
	omitted int
}

// Add adds one call. path's bytes may change after Add returns.
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
