package main

import (
	"strings"

	"sbx/internal/doc"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/host"
	"sbx/wrap/launch"
)

// runCheck is `sbx check`: everything that exec does but the command itself.
// The launch is tried for real, up to the point where the command would start.
func runCheck(c *call) int {
	if c.has("migrate") {
		return c.migrate()
	}
	x := &execution{call: c, noCommand: len(c.rest) == 0}
	if x.noCommand { // the documents are judged, and no program
		c.rest = []string{"true"}
	}
	plan, err := x.trial()
	if usage, ok := err.(usageError); ok {
		c.std.say(usage.Error())
		return exitUsage
	}
	if err == nil && c.has("path") {
		c.std.print(x.pathText(plan, x.path(c.value("path"))))
	} else if c.has("json") {
		c.std.print(checkJSON(x, plan, err))
	} else if err == nil {
		c.std.print(checkText(plan, &x.host) + x.viewText(plan) + x.networkText() + x.programText(plan))
	} else {
		for _, p := range spec.AsProblems(err) {
			c.std.problem(p)
		}
	}
	if err != nil {
		return exitFailed
	}
	return exitOK
}

// trial makes the plan and launches it, rung by rung, without the command.
func (x *execution) trial() (*wrap.Plan, error) {
	docs, err := x.documents()
	if err != nil {
		return nil, err
	}
	if x.resolved, err = x.resolve(docs); err != nil {
		return nil, err
	}
	x.record.Command.Argv = x.rest
	if err := x.instruct(); err != nil {
		return nil, err
	}
	x.remark()
	x.host = host.Facts()
	if x.survey() != host.Found {
		return nil, &spec.Problem{On: x.rest[0], Do: "run the command", Why: "it is not there or not executable"}
	}
	return x.climb()
}

// climb finds the rung that this host holds.
func (x *execution) climb() (*wrap.Plan, error) {
	for {
		plan, err := wrap.Build(x.resolved, &x.host, wrap.Request{Argv: x.rest, Program: x.program, Counter: wrap.CounterAuto, Agent: x.seen, NoCommand: x.noCommand, Worker: x.workerAlone()})
		if err != nil {
			return nil, err
		}
		err = launch.Try(plan)
		if err == nil {
			return plan, nil
		}
		if err := x.taught(plan, err); err != nil {
			return nil, err
		}
	}
}

// checkText is the plan's lines as a table.
func checkText(p *wrap.Plan, h *wrap.Host) string {
	var b strings.Builder
	b.WriteString("rung: " + p.Rung.String() + "\n")
	for _, e := range p.Enforcement {
		b.WriteString("  " + pad(string(e.Field), 20) + pad(e.Status.String(), 12) + pad(spec.Shown(e.Asked), 24))
		if e.By != "" {
			b.WriteString(" by " + e.By)
		}
		b.WriteString("\n")
		if e.Reason != "" {
			b.WriteString("      " + spec.Shown(e.Reason) + "\n")
		}
	}
	for _, r := range h.Repositories {
		if r.Outside {
			b.WriteString("note: this is a linked worktree: the command can move any ref of " + spec.Name(r.Common) + "\n")
		}
	}
	return b.String()
}

// checkJSON is {ok, plan, programs | problems}.
func checkJSON(x *execution, p *wrap.Plan, err error) string {
	w := &doc.Writer{}
	w.Open('{')
	w.Key("ok")
	w.Bool(err == nil)
	if err == nil {
		w.KeyRaw("plan", string(p.AppendJSON(nil)))
		x.writeView(w, p)
		x.writeNetwork(w)
		x.writePrograms(w)
	} else {
		writeProblems(w, spec.AsProblems(err))
	}
	w.Close('}')
	return string(w.B) + "\n"
}
