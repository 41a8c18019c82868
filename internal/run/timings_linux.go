package run

import (
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"sbx/audit/listen"
)

// Timings measure the phases of the start and count the answered calls. On a nil *Timings
// every method does nothing.
type Timings struct {
	last  time.Time
	names []string
	spans []time.Duration
	calls *listen.Answered // nil if there is no listener
}

// NewTimings starts with the processor time that the program has used so far.
func NewTimings() *Timings {
	return &Timings{last: time.Now(), names: []string{"runtime"}, spans: []time.Duration{sinceStart()}}
}

// Lap ends a phase.
func (w *Timings) Lap(name string) {
	if w == nil {
		return
	}
	now := time.Now()
	w.names = append(w.names, name)
	w.spans = append(w.spans, now.Sub(w.last))
	w.last = now
}

// counts takes the listener's counts at the end.
func (w *Timings) counts(calls *listen.Answered) {
	if w != nil {
		w.calls = calls
	}
}

// String has a line for each kind of call and each phase.
func (w *Timings) String() string {
	if w == nil {
		return ""
	}
	text := ""
	if w.calls != nil {
		counts := [...]int{w.calls.Execs, w.calls.Names - w.calls.Present, w.calls.Present, w.calls.Opens, w.calls.Others}
		for i, kind := range [...]string{"execs", "names", "present", "opens", "others"} {
			text += "answered " + kind + " " + strconv.Itoa(counts[i]) + "\n"
		}
	}
	for i, name := range w.names {
		text += "timing " + name + " " + strconv.FormatInt(w.spans[i].Microseconds(), 10) + "\n"
	}
	return text
}

// sinceStart returns the processor time that this process has used so far, by the start of
// Go's runtime and the reading of the command line.
func sinceStart() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
