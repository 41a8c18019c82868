package main

import (
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch"
)

// progressEvery is how often a program that asked is told what was used.
const progressEvery = 500 * time.Millisecond

// progress tells a program by a descriptor what the command has used so far.
type progress struct {
	fd   int
	told string // the last line
}

// progressAsked reads --progress, and keeps its descriptor from the command.
func (x *execution) progressAsked() error {
	if !x.has("progress") {
		return nil
	}
	v := x.value("progress")
	n, err := strconv.Atoi(v)
	if err != nil || n < 3 || n > 1<<20 {
		return usageError("exec: --progress wants the number of a descriptor, of 3 or more, and not " + spec.Word(v))
	}
	if _, err := unix.FcntlInt(uintptr(n), unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
		return &spec.Problem{On: "--progress " + v, Do: "tell what is used", Why: "the descriptor is not open"}
	}
	for _, kept := range x.keep {
		if kept == n {
			return usageError("exec: --progress and --keep-fd name the same descriptor")
		}
	}
	x.progress = &progress{fd: n}
	return nil
}

// listenProgress begins to tell.
func (x *execution) listenProgress(h *launch.Hooks) {
	if x.progress == nil {
		return
	}
	if w, ok := launch.Every(progressEvery, x.tellProgress); ok { // else the record will tell
		h.Wait = append(h.Wait, w)
	}
}

// tellProgress writes a line where something has changed since the last one. A
// reader that is slow misses lines; one that is gone is told nothing more.
func (x *execution) tellProgress() {
	p := x.progress
	line := x.usedSoFar()
	if p.fd < 0 || line == p.told {
		return
	}
	room := []unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLOUT}}
	if n, err := unix.Poll(room, 0); err != nil || n != 1 {
		return
	}
	// A write to a pipe that nobody reads would raise SIGPIPE, which is handed on
	// to the command as any signal.
	if room[0].Revents != unix.POLLOUT || !writeAll(p.fd, line) {
		p.fd = -1
		return
	}
	p.told = line
}

// usedSoFar is one JSON object: what nobody counts is absent.
func (x *execution) usedSoFar() string {
	s := "{"
	switch x.plan.Counter {
	case wrap.CounterNotify, wrap.CounterPtrace:
		s += `"commands_used": ` + strconv.Itoa(x.ledger.Started())
	case wrap.CounterOuter:
		if _, started, _, ok := x.budget.Commands(); ok {
			s += `"commands_used": ` + strconv.Itoa(started)
		}
	}
	if x.watched != nil && x.seen.Turns {
		if len(s) > 1 {
			s += ", "
		}
		s += `"turns_used": ` + strconv.Itoa(x.watched.turns)
	}
	return s + "}\n"
}
