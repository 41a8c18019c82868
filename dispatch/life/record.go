package life

import (
	"bytes"
	"strconv"
	"time"

	"sbx/audit"
	"sbx/dispatch"
	"sbx/internal/doc"
	"sbx/spec"
)

// outcome returns the end of a dispatch from its final record. It is pure, so that the
// keeper and a much later Poll get the same result. status is the exit status of sbx exec,
// if known; stop is the status requested when the dispatch was stopped, "" if it was not.
func outcome(record []byte, v audit.View, now time.Time, status spec.Opt[int64], stop dispatch.Status) dispatch.End {
	n := v.Node
	e := dispatch.End{At: now, Counts: countsOf(n), Status: dispatch.Failed, ExitCode: status}
	switch v.State {
	case "exited":
		e.ExitCode = number(n.Get("exit"), "code")
		setStatus(&e, doc.Text(n.Get("exit").Get("ended_by")), stop)
		if at, err := time.Parse(time.RFC3339, doc.Text(n.Get("ended_at"))); err == nil {
			e.At = at
		}
	case "refused":
		if !status.Set {
			e.ExitCode = spec.Some(int64(125))
		}
		e.Error = spec.Some("it was refused: " + doc.Text(n.Get("error").Get("reason")))
	default:
		if v.State != "lost" {
			record = v.Lost()
		}
		e.Error = spec.Some("it is lost: its supervisor was ended, and what that had seen with it")
		if stop != "" {
			e.Status = stop
			e.Error = spec.Some("it was stopped by force")
		}
	}
	e.Effective = spec.Some(string(bytes.TrimSpace(record)))
	return e
}

// setStatus sets the status and error of a run whose command has exited; by is what ended
// it.
func setStatus(e *dispatch.End, by string, stop dispatch.Status) {
	switch {
	case e.ExitCode == spec.Some(int64(0)) && by == "command":
		e.Status = dispatch.Completed
	case by == "timeout":
		e.Status = dispatch.TimedOut
		e.Error = spec.Some("its time was up")
	case stop != "":
		e.Status = stop
		e.Error = spec.Some("it was stopped")
	case by == "command":
		e.Error = spec.Some("it ended with status " + strconv.FormatInt(e.ExitCode.Value, 10))
	default:
		e.Error = spec.Some("it was ended by " + by)
	}
}

// countsOf returns the counts of a record. Unknown ones are absent.
func countsOf(n *spec.Node) dispatch.Counts {
	tokens := n.Get("agent").Get("tokens")
	return dispatch.Counts{Turns: number(n, "turns_used"), Commands: number(n, "commands_used"),
		Input: number(tokens, "input"), Output: number(tokens, "output"), Cached: number(tokens, "cached")}
}

func number(n *spec.Node, key string) spec.Opt[int64] {
	v, ok := doc.Whole(n.Get(key))
	return spec.Opt[int64]{Value: v, Set: ok}
}

// substitute returns a record of a job for which sbx exec has written none. Its state is
// refused if why is set, else lost.
func (w *World) substitute(j *Job, at time.Time, why *spec.Problem) []byte {
	r := audit.Record{StartedAt: at, Version: w.Version, Command: audit.Command{Argv: []string{}}}
	r.ID, _ = audit.NewID(at) // a record without an id is still useful
	if j != nil {
		r.Command.Cwd = j.Project
		if j.Argv != nil {
			r.Command.Argv = j.Argv
		}
		if j.HasSpec {
			r.Sources = []string{"sandbox_spec"}
			if s, err := decode(j.Spec); err == nil {
				r.Documents = []*spec.SandboxSpec{s}
			}
		}
	}
	if why != nil {
		r.Error, r.EndedAt = audit.RefusalOf(why), at
	}
	return r.AppendJSON(nil)
}
