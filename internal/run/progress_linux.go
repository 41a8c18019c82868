package run

import (
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"sbx/internal/sys"
	"sbx/wrap"
	"sbx/wrap/launch"
)

// progressEvery is how often a program that asked is told what was used.
const progressEvery = 500 * time.Millisecond

// progress tells a program by a descriptor what the command has used so far.
type progress struct {
	*count
	watched *watched
	fd      int
	told    string // the last line
}

// listen begins to tell.
func (x *progress) listen(h *launch.Hooks) {
	if x.fd == 0 {
		return
	}
	if w, ok := launch.Every(progressEvery, x.tell); ok { // else the record will tell
		h.Wait = append(h.Wait, w)
	}
}

// tell writes a line where something has changed since the last one. A
// reader that is slow misses lines; one that is gone is told nothing more.
func (x *progress) tell() {
	line := x.usedSoFar()
	if x.fd < 0 || line == x.told {
		return
	}
	room := []unix.PollFd{{Fd: int32(x.fd), Events: unix.POLLOUT}}
	if n, err := unix.Poll(room, 0); err != nil || n != 1 {
		return
	}
	// A write to a pipe that nobody reads would raise SIGPIPE, which is handed on
	// to the command as any signal.
	if room[0].Revents != unix.POLLOUT || !sys.WriteAll(x.fd, line) {
		x.fd = -1
		return
	}
	x.told = line
}

// usedSoFar is one JSON object: what nobody counts is absent.
func (x *progress) usedSoFar() string {
	s := "{"
	switch x.Plan.Counter {
	case wrap.CounterNotify, wrap.CounterPtrace:
		s += `"commands_used": ` + strconv.Itoa(x.ledger.Started())
	case wrap.CounterOuter:
		if _, started, _, ok := x.budget.Commands(); ok {
			s += `"commands_used": ` + strconv.Itoa(started)
		}
	}
	if x.tap != nil && x.Seen.Turns {
		if len(s) > 1 {
			s += ", "
		}
		s += `"turns_used": ` + strconv.Itoa(x.watched.turns)
	}
	return s + "}\n"
}
