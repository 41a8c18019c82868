package life

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/dispatch"
	"sbx/spec"
)

// Escalate adds a row as Retry does, with a more able model if the last one has failed
// twice, and with a prompt that describes the failure. The error is an *Exhausted if no
// model is left. Attempts are counted by the rows, each of which names the row that it
// retries. Escalate refuses a foreign ledger: Intercore counts attempts in tables of its
// own, which sbx does not write.
func (w *World) Escalate(l *dispatch.Ledger, at dispatch.Place, id string, e Escalation) (Again, *Job, error) {
	d, err := l.Get(id)
	if err != nil {
		return Again{}, nil, err
	}
	first := w.dirOf(l.Path(), id).readJob()
	cannot := func(why, help string) error { return problem(id, "escalate the dispatch", why, help) }
	judged := d.Status == dispatch.Completed && (e.Mode == "verdict-fail" || e.Mode == "criteria-fail")
	switch {
	case !l.Own():
		return Again{}, nil, cannot("its ledger is another's, who counts the attempts in tables of his own", "ic dispatch retry "+id+" --escalate")
	case d.Status != dispatch.Failed && d.Status != dispatch.TimedOut && !judged:
		return Again{}, nil, cannot("its status is "+string(d.Status), "only a failed or timed-out dispatch is retried; for a completed one say how it failed: --failure-mode verdict-fail")
	case first == nil || first.Argv != nil || !d.PromptFile.Set:
		return Again{}, nil, cannot("the prompt and model of its agent are not known here", "retry it without --escalate")
	}
	chain, err := lineage(l, d)
	if err != nil {
		return Again{}, nil, err
	}
	models := make([]string, len(chain))
	for i := range chain {
		models[i] = chain[i].Model.Value
	}
	model, ok := nextModel(models, e.Open)
	if !ok {
		out := &Exhausted{ID: id, Attempts: len(chain)}
		out.Lesson, err = w.writeReport(first, chain, e)
		if err != nil {
			return Again{}, nil, err
		}
		return Again{}, nil, out
	}
	next := repeat(&d)
	if model != "" {
		next.Model = spec.Some(model)
	}
	if _, err := w.promptNow(first, &d); err != nil {
		return Again{}, nil, err
	}
	prompt, err := w.writePrompt(first, chain, &next, e)
	if err != nil {
		return Again{}, nil, err
	}
	hash, err := w.HashPrompt(first, prompt)
	if err == nil {
		next.PromptFile, next.PromptHash = spec.Some(prompt), spec.Some(hash)
		var again Again
		var j *Job
		if again, j, err = w.addRetry(l, at, &d, &next); err == nil {
			again.Model, again.Escalated = model, model != d.Model.Value
			j.Model, j.Prompt = model, prompt
			return again, j, nil
		}
	}
	_ = os.Remove(prompt)
	return Again{}, nil, err
}

// writePrompt writes the prompt of the next attempt next to the first one's, with the
// permissions of the last one's, and returns its path.
func (w *World) writePrompt(j *Job, chain []dispatch.Dispatch, next *dispatch.Dispatch, e Escalation) (string, error) {
	last := &chain[len(chain)-1]
	text, mode, err := w.readPrompt(j, last.PromptFile.Value)
	if err != nil {
		return "", err
	}
	path := chain[0].PromptFile.Or(last.PromptFile.Value) + ".retry" + strconv.FormatInt(next.RetryCount.Value, 10) + "." + next.ID
	text = append(text, lesson(len(chain), last, e, lastLines(last.OutputFile.Value, shownLines))...)
	return path, w.writeBeside(j, path, text, mode)
}

// writeReport writes the report about all attempts to a file in the project.
func (w *World) writeReport(j *Job, chain []dispatch.Dispatch, e Escalation) (string, error) {
	path := filepath.Join(chain[0].ProjectDir, "escalation-chain-"+dirName(chain[0].ID)+".md")
	return path, w.writeBeside(j, path, []byte(report(chain, e)), 0o666)
}

func (w *World) writeBeside(j *Job, path string, b []byte, mode os.FileMode) error {
	t, err := w.openTarget(j, path)
	if err != nil {
		return err
	}
	defer func() { _ = t.Close() }()
	f, err := t.create("")
	if err != nil {
		return err
	}
	if mode&0o077 == 0 {
		err = f.Chmod(mode)
	}
	if err == nil {
		_, err = f.Write(b)
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		_ = os.Remove(path)
		return problem(path, "write it", dispatch.WithoutPath(err), "make room there")
	}
	return nil
}

// shownLines is how many lines of the last output are added to the next prompt.
const shownLines = 50

// lastLines returns the end of an output file; "" if there is none. It follows no link,
// which the agent could have planted to point to a file of the user's.
func lastLines(path string, n int) string {
	f, err := openReal(path, unix.O_RDONLY|unix.O_NONBLOCK)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	lines := strings.SplitAfter(strings.TrimRight(strings.ToValidUTF8(tail(f, 64<<10), "?"), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "")
}
