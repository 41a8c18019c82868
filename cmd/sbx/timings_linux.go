package main

import (
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit/listen"
)

// stopwatch tells where the start's time went and how many calls were answered,
// under --timings; nil otherwise.
type stopwatch struct {
	last  time.Time
	names []string
	spans []time.Duration
	calls *listen.Answered // nil for no listener
}

func newStopwatch(c *call) *stopwatch {
	if !c.has("timings") {
		return nil
	}
	w := &stopwatch{last: time.Now()}
	w.names = append(w.names, "runtime")
	w.spans = append(w.spans, sinceStart())
	return w
}

// lap ends a phase.
func (w *stopwatch) lap(name string) {
	if w == nil {
		return
	}
	now := time.Now()
	w.names = append(w.names, name)
	w.spans = append(w.spans, now.Sub(w.last))
	w.last = now
}

// counts tells of the listener's calls at the end.
func (w *stopwatch) counts(calls *listen.Answered) {
	if w != nil {
		w.calls = calls
	}
}

func (w *stopwatch) report(std streams) {
	if w == nil {
		return
	}
	if w.calls != nil {
		for _, k := range []struct {
			kind string
			n    int
		}{{"execs", w.calls.Execs}, {"names", w.calls.Names - w.calls.Present}, {"present", w.calls.Present}, {"opens", w.calls.Opens}, {"others", w.calls.Others}} {
			writeAll(std.err, "answered "+k.kind+" "+strconv.Itoa(k.n)+"\n")
		}
	}
	for i, name := range w.names {
		writeAll(std.err, "timing "+name+" "+strconv.FormatInt(w.spans[i].Microseconds(), 10)+"\n")
	}
}

// sinceStart is the processor time that this process has used: all of it went
// into the runtime's start and the reading of the command line.
func sinceStart() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
