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

// outcome is the end of a dispatch by its record, which nobody writes any more:
// pure, so that whoever comes to it, the keeper or a poll much later, comes to
// the same. status is the exit status of sbx exec, where that was seen; stop is
// the status that whoever stopped the dispatch wants for it, "" where nobody did.
func outcome(record []byte, v audit.View, now time.Time, status spec.Opt[int64], stop dispatch.Status) dispatch.End {
	n := v.Node
	e := dispatch.End{At: now, Counts: used(n), Status: dispatch.Failed, ExitCode: status}
	switch v.State {
	case "exited":
		e.ExitCode = number(n.Get("exit"), "code")
		ended(&e, doc.Text(n.Get("exit").Get("ended_by")), stop)
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

// ended tells how a run that came to its end by itself, or by what ended it.
func ended(e *dispatch.End, by string, stop dispatch.Status) {
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

// used are the counts of a record. What nobody saw stays absent.
func used(n *spec.Node) dispatch.Counts {
	tokens := n.Get("agent").Get("tokens")
	return dispatch.Counts{Turns: number(n, "turns_used"), Commands: number(n, "commands_used"),
		Input: number(tokens, "input"), Output: number(tokens, "output"), Cached: number(tokens, "cached")}
}

func number(n *spec.Node, key string) spec.Opt[int64] {
	v, ok := doc.Whole(n.Get(key))
	return spec.Opt[int64]{Value: v, Set: ok}
}

// bare is a record of what was to run, where sbx exec has left none: refused for
// a reason, or lost without one.
func (w *World) bare(j *Job, at time.Time, why *spec.Problem) []byte {
	r := audit.Record{StartedAt: at, Version: w.Version, Command: audit.Command{Argv: []string{}}}
	r.ID, _ = audit.NewID(at) // without one it is still a record
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
		r.Error, r.EndedAt = audit.Refused(why), at
	}
	return r.AppendJSON(nil)
}
