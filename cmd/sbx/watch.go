package main

import (
	"time"

	"sbx/audit"
	"sbx/audit/show"
	"sbx/internal/sys"
	"sbx/spec"
)

func watchVerb() verb {
	return verb{name: "watch", args: "[ID | FILE | last | -N]", run: runWatch,
		short: "follow a run while it goes on",
		long: "Prints the programs that a run starts and its denials, from its record:\n" +
			"a second after they happen, at the latest. On a terminal a last line has the time,\n" +
			"the programs, the turns and the denials so far, with their budgets. It ends with\n" +
			"the run; where none goes on it waits a second for one to start. A run is named as\n" +
			"for sbx show; a record that --effective names is written only when the run starts\n" +
			"and ends.",
		example: "sbx watch last"}
}

// watchEvery is the interval at which the record is read.
const watchEvery = 300 * time.Millisecond

// startsWithin is how long to wait for a run that is about to start.
const startsWithin = time.Second

// awaitRun waits for a run to begin, if the last run is over or there is none.
func (c *call) awaitRun() {
	for end, over := time.Now().Add(startsWithin), ""; ; time.Sleep(startsWithin / 20) {
		_, view, _, err := audit.Load(audit.StateDir(c.environ, c.home()), "last")
		switch {
		case time.Now().After(end), err == nil && (view.IsRunning() || over != "" && view.ID() != over):
			return
		case err == nil:
			over = view.ID()
		default:
			over = "none"
		}
	}
}

// runWatch implements `sbx watch`.
func runWatch(c *call) int {
	name := "last"
	if len(c.rest) > 0 {
		name = c.rest[0]
	}
	if len(c.rest) > 1 || name == "" {
		return c.std.misused("watch: want one run: ID, FILE, last or -N")
	}
	if name == "last" {
		c.awaitRun()
	}
	var tail show.Tail
	line := ""
	if sys.IsTerminal(c.std.out) {
		line = "\r\x1b[K"
	}
	for {
		_, view, at, err := audit.Load(audit.StateDir(c.environ, c.home()), name)
		if err != nil {
			return c.std.failed(err)
		}
		if at != name { // and do not change to a later run
			name = view.ID()
		}
		text := tail.Next(view, c.colour())
		if line != "" {
			text = line + text
		}
		if line != "" || !view.IsRunning() {
			text += spec.Shown(show.Status(view, time.Now()))
		}
		if !view.IsRunning() {
			c.std.print(text + "\n")
			return exitOK
		}
		if text != "" && !c.std.print(text) {
			return exitFailed // the reader has gone
		}
		time.Sleep(watchEvery)
	}
}
