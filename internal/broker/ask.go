package broker

import (
	"slices"
	"strings"
	"time"

	"sbx/internal/broker/wire"
	"sbx/internal/doc"
)

// question is a call that waits for a person.
type question struct {
	id, tool, text string
	answer         chan bool
}

// question asks, and waits: no answer in its time is no. by says who or what decided.
func (b *Broker) question(v *Verdict) (yes bool, by string) {
	args := b.redactor.Text(string(v.allowed.args.AppendCanonical(nil)))
	q := &question{id: v.id, tool: v.allowed.tool.Name, text: doc.Shown(args[:min(len(args), maxShown)]), answer: make(chan bool, 1)}
	b.mu.Lock()
	b.questions = append(b.questions, q)
	b.mu.Unlock()
	b.tell(&wire.Ask{ID: q.id, Tool: q.tool, Reason: v.reason})
	late := time.NewTimer(b.doc.AskTimeout)
	defer late.Stop()
	select {
	case yes = <-q.answer:
		by = "no"
	case <-late.C:
		by = "nobody answered within " + b.doc.AskTimeout.String()
	case <-b.over:
		by = "the execution ended"
	}
	b.mu.Lock()
	b.questions = slices.DeleteFunc(b.questions, func(other *question) bool { return other == q })
	b.mu.Unlock()
	return yes, by
}

// Pending are the questions that wait, each with its id, tool and arguments.
func (b *Broker) Pending() (all [][3]string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, q := range b.questions {
		all = append(all, [3]string{q.id, q.tool, q.text})
	}
	return all
}

// Answer answers one; it is false where none of that id waits.
func (b *Broker) Answer(id string, yes bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, q := range b.questions {
		if strings.EqualFold(q.id, id) {
			q.answer <- yes
			b.questions = slices.Delete(b.questions, i, i+1) // it is asked once
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
