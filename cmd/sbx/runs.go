package main

import (
	"strconv"
	"strings"
	"time"

	"sbx/audit"
	"sbx/audit/show"
	"sbx/spec"
)

func runsVerb() verb {
	return verb{name: "runs", args: "[prune]", run: runRuns,
		short: "list the runs whose records are kept, or remove old ones",
		long: "Lists the runs of the state directory, newest first. prune removes those that began\n" +
			"longer than TIME ago, or all but the newest N, with their records and what was\n" +
			"moved away in them, and says which. A run that goes on is never removed. By\n" +
			"itself sbx keeps the newest 1,000, and those in which something was moved away.\n\n" +
			"Exit status: 0; 1 if a run could not be removed; 2 for a bad command line.",
		example: "sbx runs prune --older-than 7d",
		flags: []flag{{name: "json", help: "one JSON object a line for each run"},
			{name: "older-than", arg: "TIME", some: true, help: "prune: those that began longer ago: 7d, 12h, 30m"},
			{name: "keep", arg: "N", some: true, help: "prune: all but the newest N"},
			{name: "dry-run", help: "prune: say what would be removed, and remove nothing"}}}
}

// runRuns implements `sbx runs`.
func runRuns(c *call) int {
	state := audit.StateDir(c.environ, c.home())
	switch {
	case state == "":
		return c.std.failed(&spec.Problem{On: "runs", Do: "find the state directory", Why: "there is no home directory, and XDG_STATE_HOME is not set to an absolute path", Help: "set HOME"})
	case len(c.rest) == 1 && c.rest[0] == "prune":
		return c.prune(state)
	case len(c.rest) > 0:
		return c.std.misused("runs: want prune or nothing, not " + spec.Word(strings.Join(c.rest, " ")))
	case c.has("older-than") || c.has("keep") || c.has("dry-run"):
		return c.std.misused("runs: --older-than, --keep and --dry-run are of sbx runs prune")
	}
	all, err := audit.Runs(state)
	if err != nil {
		return c.std.failed(&spec.Problem{On: state, Do: "list the runs", Why: err.Error()})
	}
	if !c.has("json") {
		if len(all) == 0 {
			c.std.say("no runs in " + state)
			return exitOK
		}
		c.std.print(show.Runs(all, c.colour()))
		return exitOK
	}
	var out []byte
	for i := range all {
		out = all[i].AppendJSON(out)
	}
	c.std.print(string(out))
	return exitOK
}

// prune implements `sbx runs prune`.
func (c *commandLine) prune(state string) int {
	old, err := c.old(time.Now())
	if err != nil {
		return c.std.misused(err.Error())
	}
	verb := "removed"
	if c.has("dry-run") {
		verb = "would remove"
	}
	removed, goOn, left := 0, 0, 0
	err = audit.Prune(state, old, c.has("dry-run"), func(p audit.Pruned) {
		switch {
		case p.Left == nil:
			removed++
		case p.InUse():
			goOn++
		default:
			left++
			c.std.problem(&spec.Problem{On: p.ID, Do: "remove the run", Why: p.Left.Error(), Help: "look at " + state + "/runs/" + p.ID})
		}
		switch {
		case c.has("json"):
			c.std.print(string(p.AppendJSON(nil)))
		case p.Left == nil:
			c.std.print(verb + " " + p.ID + "\n")
		}
	})
	if err != nil {
		return c.std.failed(&spec.Problem{On: state, Do: "remove runs", Why: err.Error()})
	}
	if !c.has("json") {
		line := verb + " " + counted(removed, "run")
		if goOn > 0 {
			line += ", left " + strconv.Itoa(goOn) + " that went on"
		}
		c.std.print(line + "\n")
	}
	if left > 0 {
		return exitFailed
	}
	return exitOK
}

// old reads which runs are to be removed.
func (c *commandLine) old(now time.Time) (audit.Old, error) {
	if c.has("older-than") == c.has("keep") {
		return audit.Old{}, usageError("runs: prune wants --older-than TIME or --keep N")
	}
	if c.has("keep") {
		n, err := strconv.ParseUint(c.value("keep"), 10, 31)
		if err != nil {
			return audit.Old{}, usageError("runs: --keep wants a whole number, not " + spec.Word(c.value("keep")))
		}
		return audit.Old{Keep: int(n)}, nil
	}
	age, ok := spec.ParseDuration(c.value("older-than"))
	if digits, is := strings.CutSuffix(c.value("older-than"), "d"); is {
		days, err := strconv.ParseUint(digits, 10, 16)
		age, ok = time.Duration(days)*24*time.Hour, err == nil
	}
	if !ok {
		return audit.Old{}, usageError("runs: --older-than wants a time such as 7d, 12h or 30m, not " + spec.Word(c.value("older-than")))
	}
	return audit.Old{Before: now.Add(-age)}, nil
}

// counted returns a number with its noun: 1 run, 2 runs.
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.Itoa(n) + " " + thing
}
