package main

import (
	"strings"

	"sbx/internal/broker/caps"
	"sbx/internal/doc"
	"sbx/internal/run"
	"sbx/spec"
	"sbx/wrap"
)

// runCheck implements `sbx check`: everything that exec does without running the command.
// It tries the launch on this host, up to the start of the command.
func runCheck(c *call) int {
	if c.has("migrate") {
		return c.migrate()
	}
	x := newExecution(c)
	if x.NoCommand = len(c.rest) == 0; x.NoCommand { // only the documents are checked
		c.rest = []string{"true"}
	}
	err := x.trial()
	if usage, ok := err.(usageError); ok {
		return c.std.misused(usage.Error())
	}
	planned := x.prepared != nil && x.prepared.Plan != nil // if there is a plan, only the program is missing
	switch {
	case planned && c.has("path"):
		c.std.print(x.pathText(x.path(c.value("path"))))
	case c.has("json"):
		c.std.print(checkJSON(x, err))
	case planned:
		c.std.print(checkText(x.prepared.Plan, &x.prepared.Host) + x.viewText() + partsText(x.networkParts()) + x.programText())
	}
	if err != nil && !c.has("json") {
		c.std.failed(err)
	}
	if err != nil {
		return exitFailed
	}
	return exitOK
}

// trial makes the plan and launches it without the command, down to the fallback level
// that works.
func (x *execution) trial() (err error) {
	x.Argv = x.rest
	if x.Documents, err = x.documents(); err != nil {
		return err
	}
	if err = x.resolveAsk(); err != nil {
		return err
	}
	if x.prepared, err = run.Try(x.Ask); x.prepared.Plan != nil {
		x.warn(x.prepared.Plan.Warnings)
		x.tellUnreached()
	}
	return err
}

// checkText formats the plan's lines as a table.
func checkText(p *wrap.Plan, h *wrap.Host) string {
	var b strings.Builder
	b.WriteString("fallback level: " + p.Rung.String() + "\n")
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

// checkJSON returns {ok, plan, programs | problems}.
func checkJSON(x *execution, err error) string {
	w := &doc.Writer{}
	w.Open('{')
	w.KeyBool("ok", err == nil)
	if err == nil {
		if b := &x.Resolved.Broker; b.File.Abs != "" {
			w.KeyOpen("broker", '{')
			w.KeyStr("file", b.File.Abs)
			w.KeyText("plan", b.Plan.Abs)
			w.KeyList("grant", caps.Texts(b.Grant))
			w.Close('}')
		}
		w.KeyRaw("plan", string(x.prepared.Plan.AppendJSON(nil)))
		x.writeView(w)
		x.writeNetwork(w)
		x.writePrograms(w)
	} else {
		writeProblems(w, spec.AsProblems(err))
	}
	w.Close('}')
	return string(w.B) + "\n"
}
