package main

import (
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// stopwatch tells where the start's time went and how many calls were answered,
// under --timings; nil otherwise.
type stopwatch struct {
	last  time.Time
	names []string
	spans []time.Duration
	calls *int // that the listener answered; nil for no listener
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
func (w *stopwatch) counts(calls *int) {
	if w != nil {
		w.calls = calls
	}
}

func (w *stopwatch) report(std streams) {
	if w == nil {
		return
	}
	if w.calls != nil {
		writeAll(std.err, "answered "+strconv.Itoa(*w.calls)+"\n")
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
