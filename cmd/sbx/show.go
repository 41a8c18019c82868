package main

import (
	"sbx/audit"
	"sbx/internal/sys"
	"sbx/spec"
)

func showVerb() verb {
	return verb{name: "show", args: "[ID | FILE | last | -N]", run: runShow,
		short: "print a record for people",
		long: "Prints what was asked, what held, what was refused and how it ended. ID is the\n" +
			"beginning of a run's id or of its last part, if no other begins so (sbx runs\n" +
			"lists them); last, or nothing, is the newest run, -2 the one before.",
		example: "sbx show last",
		flags: []flag{{name: "json", help: "the record as it is stored"},
			{name: "html", help: "one page of HTML"}}}
}

// runShow is `sbx show`.
func runShow(c *call) int {
	if len(c.rest) > 1 {
		c.std.say("show: one record at a time")
		return exitUsage
	}
	if len(c.rest) == 1 && c.rest[0] == "" { // of which every id is a continuation
		c.std.say("show: want ID, FILE, last or -N, and not \"\"")
		return exitUsage
	}
	name := "last"
	if len(c.rest) == 1 {
		name = c.rest[0]
	}
	text, view, _, err := audit.Load(audit.StateDir(c.environ, c.home()), name)
	if err != nil {
		c.std.problem(spec.AsProblems(err)[0])
		return exitFailed
	}
	switch {
	case c.has("json"):
		c.std.print(string(text))
	case c.has("html"):
		c.std.print(audit.ShowHTML(view))
	default:
		c.std.print(audit.Show(view, c.colour()))
	}
	return exitOK
}

// colour tells whether stdout shows colours: FORCE_COLOR, then NO_COLOR and
// TERM=dumb, then whether it is a terminal.
func (c *call) colour() bool {
	switch {
	case sys.Variable(c.environ, "FORCE_COLOR") != "":
		return true
	case sys.Variable(c.environ, "NO_COLOR") != "", sys.Variable(c.environ, "TERM") == "dumb":
		return false
	}
	return sys.IsTerminal(c.std.out)
}
