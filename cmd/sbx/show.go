package main

import (
	"sbx/audit"
	"sbx/audit/show"
	"sbx/internal/sys"
)

func showVerb() verb {
	return verb{name: "show", args: "[ID | FILE | last | -N]", run: runShow,
		short: "print a record for people",
		long: "Prints how the run ended, what was denied and what would allow it, what was\n" +
			"requested, what was enforced and what was used. ID is the beginning of a run's\n" +
			"id or of its last part, if no other begins so (sbx runs lists them); last, or\n" +
			"nothing, is the newest run, -2 the one before. --compare takes two, or one and\n" +
			"last, or -2 and last.",
		example: "sbx show last",
		flags: []flag{{name: "json", help: "the record as it is stored"},
			{name: "html", help: "one page of HTML"},
			{name: "sarif", help: "the denials as SARIF 2.1.0, for CI"},
			{name: "junit", help: "the denials as failed tests in JUnit's XML, for CI"},
			{name: "compare", help: "how the second of two records differs from the first"}}}
}

// runShow implements `sbx show`.
func runShow(c *call) int {
	usual := []string{"last"}
	if c.has("compare") {
		usual = []string{"-2", "last"}
	}
	if len(c.rest) > len(usual) {
		return c.std.misused("show: one record at a time, or two with --compare")
	}
	names := append(c.rest, usual[len(c.rest):]...)
	if err := c.oneForm(); err != nil {
		return c.std.misused(err.Error())
	}
	var views []audit.View
	var text []byte
	for _, name := range names {
		if name == "" { // "" would be a prefix of every id
			return c.std.misused("show: want ID, FILE, last or -N, and not \"\"")
		}
		b, view, _, err := audit.Load(audit.StateDir(c.environ, c.home()), name)
		if err != nil {
			return c.std.failed(err)
		}
		text, views = b, append(views, view)
	}
	c.std.print(c.shown(text, views))
	return exitOK
}

// oneForm rejects two output formats at once.
func (c *commandLine) oneForm() error {
	var forms []string
	for _, f := range c.flags {
		if c.has(f.name) && f.name != "compare" {
			forms = append(forms, dashed(f.name))
		}
	}
	if c.has("compare") && len(forms) > 0 && forms[0] != "--json" {
		forms = append(forms, "--compare")
	}
	if len(forms) > 1 {
		return usageError("show: " + forms[0] + " and " + forms[1] + " are two forms")
	}
	return nil
}

// shown returns one or two records in the requested format.
func (c *call) shown(text []byte, views []audit.View) string {
	switch {
	case c.has("compare") && c.has("json"):
		return string(show.CompareJSON(views[0], views[1]))
	case c.has("compare"):
		return show.Compare(views[0], views[1], c.colour())
	case c.has("json"):
		return string(text)
	case c.has("html"):
		var more show.Beside
		if r, err := c.recorded(views[0], ""); err == nil {
			more = r.beside()
		}
		return show.HTML(views[0], more)
	case c.has("sarif"):
		return string(show.SARIF(views[0]))
	case c.has("junit"):
		return show.JUnit(views[0])
	}
	return show.Text(views[0], c.colour())
}

// colour reports whether stdout gets colours, by FORCE_COLOR, then NO_COLOR and TERM=dumb,
// then whether it is a terminal.
func (c *commandLine) colour() bool {
	switch {
	case sys.Variable(c.environ, "FORCE_COLOR") != "":
		return true
	case sys.Variable(c.environ, "NO_COLOR") != "", sys.Variable(c.environ, "TERM") == "dumb":
		return false
	}
	return sys.IsTerminal(c.std.out)
}
