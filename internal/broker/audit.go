package broker

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"sbx/internal/broker/document"
	"sbx/internal/broker/wire"
	"sbx/internal/doc"
	"sbx/spec/redact"
)

// maxShown is how many bytes of a call's arguments a line of the audit shows; their digest
// covers all of them.
const maxShown = 4 << 10

// audit writes broker.jsonl: for each call one line before anything is done, and one line
// about its result.
type audit struct {
	mu    sync.Mutex
	file  *os.File
	lines int64
	size  int64
	err   error // the first error; no line is written after it
}

// openAudit creates the file in a run's directory.
func openAudit(dir string) (*audit, error) {
	file, err := os.OpenFile(filepath.Join(dir, wire.AuditFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	return &audit{file: file}, err
}

// line writes one line, unless an earlier one has failed.
func (a *audit) line(event, id string, members func(w *doc.Writer)) error {
	w := &doc.Writer{}
	w.Open('{')
	w.KeyStr("at", now())
	w.KeyStr("event", event)
	w.KeyStr("id", id)
	members(w)
	w.Close('}')
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err == nil {
		n, err := a.file.Write(append(w.B, '\n'))
		if a.size += int64(n); err == nil {
			a.lines++
			return nil
		}
		_ = a.file.Truncate(a.size - int64(n)) // the file must not end in a partial line
		a.err = errors.New("the audit cannot be written: " + err.Error())
	}
	return a.err
}

// count returns the number of lines.
func (a *audit) count() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lines
}

func now() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000000Z") }

// asked writes the line before a call.
func (b *Broker) asked(call *document.Call, v *Verdict) error {
	return b.audit.line("asked", v.id, func(w *doc.Writer) {
		w.KeyText("step", v.step)
		w.KeyStr("tool", doc.Cut(v.tool))
		text := redact.Text(b.redactor.Text(string(call.Args.AppendCanonical(nil))))
		w.KeyStr("args", doc.Clip(text, maxShown))
		w.KeyStr("args_sha256", document.Digest(call.Args))
		w.KeyTexts("needs", v.needs)
		w.KeyStr("verdict", v.effect.String())
		w.KeyText("rule", v.rule)
		w.KeyText("reason", v.reason)
	})
}

// done writes the line about a call's result.
func (b *Broker) done(v *Verdict, r *Result, why string) error {
	return b.audit.line("done", v.id, func(w *doc.Writer) {
		if r.Status.Set {
			w.KeyInt("status", r.Status.Value)
		}
		w.KeyInt("wall_ms", r.Wall.Milliseconds())
		doc.Objects(w, "artifacts", r.Artifacts, func(a *Artifact) { a.write(w) })
		w.KeyCount("unexpected", int64(len(r.Unexpected)))
		w.KeyFlag("truncated", r.Truncated)
		w.KeyText("error", r.Reason)
		w.KeyText("why", b.redactor.quoted(why))
	})
}
