package life

import (
	"errors"
	"fmt"
	"strings"

	"sbx/dispatch"
	"sbx/spec"
)

// Escalation describes the failure of the last attempt.
type Escalation struct {
	Mode   string // one of FailureModes; "" to take it from the row
	Detail string // "" to take it from the row
	Open   bool   // the last model of ladder is available
}

// FailureModes are the ways in which an attempt can fail, with Intercore's names.
var FailureModes = []string{"timeout", "error", "verdict-fail", "criteria-fail"}

// ladder lists the models from the least to the most able. The next model is used once one
// has failed strikes times. Both are the same as Intercore's.
var ladder = []string{"sonnet", "opus", "fable"}

const strikes = 2

// nextModel returns the model for the next attempt, given the models of all attempts so
// far, the oldest first; ok is false if none is left. A model that is not in ladder counts
// as the first one.
func nextModel(models []string, open bool) (model string, ok bool) {
	last := models[len(models)-1]
	failed := 0
	for i := len(models); i > 0 && models[i-1] == last; i-- {
		failed++
	}
	if failed < strikes {
		return last, true
	}
	next := 1
	for i, m := range ladder {
		if m == last {
			next = i + 1
		}
	}
	if next >= len(ladder) || next == len(ladder)-1 && !open {
		return "", false
	}
	return ladder[next], true
}

// lineage returns the chain of dispatches of which d is the last retry, the oldest first,
// as far as they are in the ledger.
func lineage(l *dispatch.Ledger, d dispatch.Dispatch) ([]dispatch.Dispatch, error) {
	chain := []dispatch.Dispatch{d}
	known := map[string]bool{d.ID: true}
	for d.ParentDispatchID.Value != "" && !known[d.ParentDispatchID.Value] {
		var none *dispatch.NotFound
		var err error
		if d, err = l.Get(d.ParentDispatchID.Value); errors.As(err, &none) {
			break // it was pruned
		} else if err != nil {
			return nil, err
		}
		known[d.ID] = true
		chain = append([]dispatch.Dispatch{d}, chain...)
	}
	return chain, nil
}

// failure describes in one line how an attempt failed.
func failure(d *dispatch.Dispatch, e Escalation) string {
	mode, detail := e.Mode, e.Detail
	if mode == "" {
		switch {
		case d.Status == dispatch.TimedOut:
			mode = "timeout"
		case d.VerdictStatus.Value == "fail" && d.ExitCode.Set && d.ExitCode.Value == 0:
			mode = "verdict-fail"
		default:
			mode = "error"
		}
	}
	if detail == "" {
		detail = d.ErrorMessage.Or(d.VerdictSummary.Value)
	}
	return strings.TrimSuffix(mode+": "+oneLine(detail), ": ")
}

// lesson returns the text about the last attempt that is added to the next one's prompt.
func lesson(attempt int, d *dispatch.Dispatch, e Escalation, output string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n\n## Attempt %d failed: do not repeat what made it fail\n\n%s\n", attempt, withModel(d.Model, failure(d, e)))
	if d.VerdictStatus.Set {
		fmt.Fprintf(&b, "\nIts verdict: %s, %s\n", oneLine(d.VerdictStatus.Value), oneLine(d.VerdictSummary.Value))
	}
	if output != "" {
		fmt.Fprintf(&b, "\nThe end of its output:\n\n")
		for line := range strings.Lines(output) {
			b.WriteString("    " + strings.TrimRight(line, "\r\n") + "\n")
		}
	}
	return b.String()
}

// withModel prefixes a text with the name of the model.
func withModel(model spec.Opt[string], what string) string {
	if model.Value == "" {
		return what
	}
	return oneLine(model.Value) + ": " + what
}

// report returns a page for the user about all attempts, once no model is left.
func report(chain []dispatch.Dispatch, e Escalation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# No model is left to try: %s\n\n%d attempts.\n", chain[0].ID, len(chain))
	for i := range chain {
		why := Escalation{}
		if i == len(chain)-1 {
			why = e
		}
		fmt.Fprintf(&b, "\n## Attempt %d: dispatch %s\n\n%s\n", i+1, chain[i].ID, withModel(chain[i].Model, failure(&chain[i], why)))
	}
	return b.String()
}

// Exhausted is the error if no model is left to try.
type Exhausted struct {
	ID       string
	Attempts int
	Lesson   string // the file with the report about all attempts
}

func (e *Exhausted) Error() string {
	return fmt.Sprintf("%s: no model is left to try after %d attempts", e.ID, e.Attempts)
}
