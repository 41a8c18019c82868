package broker

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"sbx/internal/broker/wire"
	"sbx/internal/doc"
)

// questions are the calls that wait for a person.
type questions struct {
	timeout  time.Duration
	over     chan struct{} // closed at the end of the execution
	tell     func(wire.Message)
	redactor *Redactor

	mu      sync.Mutex
	waiting []*question
}

// question is one call that waits.
type question struct {
	Question
	answer chan bool
}

// ask asks a person and waits; no answer in time means no. by says who or what decided.
func (q *questions) ask(v *Verdict) (yes bool, by string) {
	args := q.redactor.Text(string(v.allowed.args.AppendCanonical(nil)))
	one := &question{Question{ID: v.id, Tool: v.allowed.tool.Name, Args: doc.Shown(doc.Clip(args, maxShown))}, make(chan bool, 1)}
	q.mu.Lock()
	q.waiting = append(q.waiting, one)
	q.mu.Unlock()
	q.tell(&wire.Ask{ID: one.ID, Tool: one.Tool, Reason: v.reason})
	late := time.NewTimer(q.timeout)
	defer late.Stop()
	select {
	case yes = <-one.answer:
		by = "no"
	case <-late.C:
		by = "nobody answered within " + q.timeout.String()
	case <-q.over:
		by = "the execution ended"
	}
	q.mu.Lock()
	q.waiting = slices.DeleteFunc(q.waiting, func(other *question) bool { return other == one })
	q.mu.Unlock()
	return yes, by
}

// pending returns the questions that wait.
func (q *questions) pending() (all []Question) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, one := range q.waiting {
		all = append(all, one.Question)
	}
	return all
}

// answer answers a question; it returns false if no question with that id waits.
func (q *questions) answer(id string, yes bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, one := range q.waiting {
		if strings.EqualFold(one.ID, id) {
			one.answer <- yes
			q.waiting = slices.Delete(q.waiting, i, i+1) // a question takes one answer
			return true
		}
	}
	return false
}

func answer(yes bool, by string) func(w *doc.Writer) {
	return func(w *doc.Writer) {
		w.KeyBool("yes", yes)
		if !yes {
			w.KeyStr("by", by)
		}
	}
}

// listen creates the socket for answers in the run's own directory: whoever may enter that
// directory may answer.
func (q *questions) listen(runDir string) (net.Listener, error) {
	path, done, err := short(filepath.Join(runDir, wire.SocketName))
	if err != nil {
		return nil, err
	}
	defer done()
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // another process may have created the path anew by then
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go q.hear(c)
		}
	}()
	return l, nil
}

// hear reads one word and replies.
func (q *questions) hear(c net.Conn) {
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	line, err := bufio.NewReader(io.LimitReader(c, 4096)).ReadBytes('\n')
	var w word
	if err != nil || json.Unmarshal(line, &w) != nil {
		return
	}
	var r reply
	if w.ID != "" {
		r.Answered = q.answer(w.ID, w.Yes)
	} else {
		r.Pending = q.pending()
	}
	_ = json.NewEncoder(c).Encode(r)
}
