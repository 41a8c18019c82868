package life

import (
	"errors"
	"fmt"
	"strings"

	"sbx/dispatch"
	"sbx/spec"
)

// Escalation is what is known of the failure that a more able model may mend.
type Escalation struct {
	Mode   string // one of FailureModes; "" for what the row tells
	Detail string // "" for what the row tells
	Open   bool   // the last rung may be taken
}

// FailureModes are how an attempt can fail, as Intercore calls it.
var FailureModes = []string{"timeout", "error", "verdict-fail", "criteria-fail"}

// The ladder of models and how often one may fail before the next is taken: as
// Intercore has it.
var ladder = []string{"sonnet", "opus", "fable"}

const strikes = 2

// climb is the model for the next attempt, after attempts by these, the oldest
// first; false where there is none. A model that is not on the ladder stands on
// its lowest rung.
func climb(models []string, open bool) (model string, ok bool) {
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

// lineage is a dispatch and those that it is a retry of, the oldest first, as far
// as the ledger has them.
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

// failure is how an attempt failed, in one line.
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

// lesson is what the next attempt is told of the last.
func lesson(attempt int, d *dispatch.Dispatch, e Escalation, output string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n\n## Attempt %d failed: do not repeat what made it fail\n\n%s\n", attempt, by(d.Model, failure(d, e)))
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

// by puts the model in front of what is told of it.
func by(model spec.Opt[string], what string) string {
	if model.Value == "" {
		return what
	}
	return oneLine(model.Value) + ": " + what
}

// handover is what a person is told where no model is left.
func handover(chain []dispatch.Dispatch, e Escalation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# No model is left to try: %s\n\n%d attempts.\n", chain[0].ID, len(chain))
	for i := range chain {
		why := Escalation{}
		if i == len(chain)-1 {
			why = e
		}
		fmt.Fprintf(&b, "\n## Attempt %d: dispatch %s\n\n%s\n", i+1, chain[i].ID, by(chain[i].Model, failure(&chain[i], why)))
	}
	return b.String()
}

// Exhausted tells that no model is left that could be tried.
type Exhausted struct {
	ID       string
	Attempts int
	Lesson   string // the file that tells what was tried
}

func (e *Exhausted) Error() string {
	return fmt.Sprintf("%s: no model is left to try after %d attempts", e.ID, e.Attempts)
}
