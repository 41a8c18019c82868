package life

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sbx/audit"
	"sbx/dispatch"
	"sbx/spec"
)

// end writes the output files of a dispatch and ends its row. why is set if the keeper
// could not start sbx exec. end returns the command's exit status.
func (k *keeper) end(status spec.Opt[int64], why error) int {
	record, view := k.record(status, why)
	e := outcome(record, view, time.Now(), status, k.stop())
	if status.Set && view.State != "exited" && view.State != "refused" {
		e.Error = spec.Some("it is lost: it ended with status " + strconv.FormatInt(status.Value, 10) + ", and has left no finished record")
	}
	words := ""
	if k.stream != nil {
		var n int64
		k.stream.finish()
		n, _, words = k.stream.now()
		e.Counts.Messages = spec.Some(n)
	} else if k.output != nil {
		words = tail(k.output, 64<<10)
	}
	k.writeOutput(words, &e)
	k.step("keeper: output written")
	k.endRow(e)
	k.step("keeper: row ended")
	if k.live != nil {
		k.live.remove()
	}
	if k.target != nil {
		_ = k.target.Close()
	}
	if !e.ExitCode.Set {
		return 128 + 9
	}
	return int(e.ExitCode.Value)
}

// record returns the record of the run that has ended: sbx exec's, or a substitute if
// sbx exec has written none.
func (k *keeper) record(status spec.Opt[int64], why error) ([]byte, audit.View) {
	if why == nil {
		if b, v, ok := k.f.recordNow(); ok {
			return b, v
		}
		why = refusalIn(status, string(k.f.read(errorsFile)))
	}
	if k.j.Driver && why != nil && k.Errors != nil {
		for _, p := range spec.AsProblems(why) {
			fmt.Fprintf(k.Errors, "sbx-dispatch: %s\n", p.Head())
			fmt.Fprintf(k.Errors, "sbx-dispatch: why: %s\n", p.Why)
		}
	}
	var first *spec.Problem
	if why != nil {
		first = spec.AsProblems(why)[0]
	}
	b := k.substitute(k.j, k.started, first)
	_ = k.f.write(recordFile, b) // for Poll, in case the ledger cannot be written
	v, err := audit.Parse(b)
	if err != nil {
		v = audit.View{State: "lost"}
	}
	return b, v
}

// refusalIn returns why sbx exec refused to start without writing a record, from its exit
// status and the last message on stderr; nil if it may have run the command.
func refusalIn(status spec.Opt[int64], said string) error {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	why := ""
	for i := len(lines) - 1; i >= 0 && status == spec.Some(int64(125)); i-- {
		line, own := strings.CutPrefix(lines[i], "sbx: ")
		if !own {
			return nil
		}
		if reason, is := strings.CutPrefix(line, "why: "); is {
			why = ": " + reason
		} else if !strings.HasPrefix(line, "hint: ") {
			return problem("sbx exec", "run the command", oneLine(line+why), "")
		}
	}
	return nil
}

// stop returns the status that was requested when the dispatch was stopped; "" if it was
// not stopped.
func (k *keeper) stop() dispatch.Status {
	if s := k.f.stop(); s != "" {
		return s
	}
	if k.stopped {
		return dispatch.Cancelled
	}
	return ""
}

// stop returns the status in stopFile, "" without a valid one.
func (f jobDir) stop() dispatch.Status {
	switch s := dispatch.Status(f.read(stopFile)); s {
	case dispatch.Cancelled, dispatch.TimedOut:
		return s
	}
	return ""
}

// writeOutput writes the output file, the summary and the verdict.
func (k *keeper) writeOutput(words string, e *dispatch.End) {
	aside := k.j.Driver || k.j.Argv == nil
	v := judge(words, e)
	if aside {
		e.Counts.VerdictStatus, e.Counts.VerdictText = spec.Some(v.status), spec.Some(v.summary)
		if v.status == "fail" && e.Status == dispatch.Completed {
			e.Status, e.Error = dispatch.Failed, spec.Some("its verdict is fail: "+v.summary)
		}
	}
	t := k.target
	if t == nil { // the keeper failed before it opened the directory, or because of it
		var err error
		if t, err = k.openTarget(k.j, k.j.Output); err != nil {
			return
		}
		k.target = t
	}
	var failed error
	if k.output == nil {
		if words != "" {
			words = strings.TrimRight(words, "\n") + "\n"
		}
		failed = t.replace("", []byte(words))
	}
	if aside && t.root != nil {
		name := cmp.Or(k.j.Name, k.j.Agent)
		failed = errors.Join(failed, t.replace(".summary", []byte(summary(name, time.Since(k.started), e.Counts))), t.replace(".verdict", []byte(v.text())))
	}
	if failed != nil && !e.Error.Set {
		e.Error = spec.Some("its output could not be written: " + oneLine(failed.Error()))
	}
}

// endRow ends the row. If the ledger cannot be written it retries for retryFor; after that
// a later Poll ends the row from the record.
func (k *keeper) endRow(e dispatch.End) {
	for until := time.Now().Add(retryFor); ; time.Sleep(time.Second) {
		err := k.inLedger.open(k.j.Ledger)
		if err == nil {
			// Another program that stops a row of Intercore's by a signal, such as ic, sets its status.
			e.KeepStatus = !k.own && k.f.read(stopFile) == nil && (k.stopped || k.j.LeaveStatus)
			err = k.ledger.End(k.j.ID, e)
		}
		if err == nil {
			_ = k.ledger.Close()
			return
		}
		if time.Now().After(until) {
			if k.Errors != nil {
				fmt.Fprintf(k.Errors, "sbx-dispatch: %v\nsbx-dispatch: hint: sbx dispatch poll %s ends the row when the ledger can be written\n", err, k.j.ID)
			}
			return
		}
	}
}
