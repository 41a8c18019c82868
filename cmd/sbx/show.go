package main

import (
	"sbx/audit"
	"sbx/internal/sys"
	"sbx/spec"
)

// runShow is `sbx show`.
func runShow(c *call) int {
	if len(c.rest) > 1 {
		c.std.say("show: one record at a time")
		return exitUsage
	}
	if len(c.rest) == 1 && c.rest[0] == "" { // of which every id is a continuation
		c.std.say("show: want ID, FILE or last, and not \"\"")
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
