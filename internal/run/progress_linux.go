package run

import (
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/sys"
	"sbx/wrap"
	"sbx/wrap/launch"
)

// progressEvery is the interval of progress lines.
const progressEvery = 500 * time.Millisecond

// progress writes to a descriptor what the command has used so far.
type progress struct {
	*count
	watched *watchedAgent
	fd      int
	told    string // the last line without its time
}

// listen starts the lines.
func (x *progress) listen(h *launch.Hooks) {
	if x.fd == 0 {
		return
	}
	if w, ok := launch.Every(progressEvery, x.update); ok { // otherwise only the record has the usage
		h.Wait = append(h.Wait, w)
	}
}

// update writes a line if the usage has changed. A slow reader misses lines; after the reader has
// closed its end, nothing is written.
func (x *progress) update() {
	if used := x.usedSoFar(); used != x.told && x.write(used, "") {
		x.told = used
	}
}

// ended writes the last line, which has sbx's exit status.
func (x *progress) ended(status int) {
	if x.fd > 0 {
		x.write(x.usedSoFar(), `, "exit": `+strconv.Itoa(status))
	}
}

// write writes one JSON object.
func (x *progress) write(used, more string) bool {
	if x.fd < 0 {
		return false
	}
	line := "{" + used + `, "elapsed_ms": ` + strconv.FormatInt(time.Since(x.record.StartedAt).Milliseconds(), 10) + more + "}\n"
	room := []unix.PollFd{{Fd: int32(x.fd), Events: unix.POLLOUT}}
	if n, err := unix.Poll(room, 0); err != nil || n != 1 {
		return false
	}
	// A write to a pipe without a reader would raise SIGPIPE, which sbx passes on
	// to the command like any signal.
	if room[0].Revents != unix.POLLOUT || sys.WriteAll(x.fd, line) != nil {
		x.fd = -1
		return false
	}
	return true
}

// usedSoFar returns the members of the object; what nobody counts is absent.
func (x *progress) usedSoFar() string {
	s := `"denials": ` + strconv.Itoa(x.record.Violations.Total())
	switch x.Plan.Counter {
	case wrap.CounterNotify, wrap.CounterPtrace:
		s += `, "commands_used": ` + strconv.Itoa(x.ledger.Started())
	case wrap.CounterOuter:
		if _, started, _, ok := x.budget.Commands(); ok {
			s += `, "commands_used": ` + strconv.Itoa(started)
		}
	}
	if x.tap != nil && x.Seen.Turns {
		s += `, "turns_used": ` + strconv.Itoa(x.watched.turns)
	}
	return s
}
