package main

import (
	"slices"
	"strconv"
	"strings"

	"sbx/audit"
	"sbx/audit/show"
	"sbx/internal/doc"
	"sbx/internal/run"
	"sbx/spec"
	"sbx/wrap"
)

func specVerb() verb {
	return verb{name: "spec", args: "suggest [ID | FILE | last]", run: runSpec,
		short: "print the spec that a run would have needed",
		long: "Reads the record of a run, and finds the fewest lines for its spec that would have\n" +
			"prevented its denials, as a difference to the spec that it had. Each line is\n" +
			"tried on this host before it is printed; denials that no line allows are listed.\n" +
			"A line that opens a secret or a whole directory says so. Nothing is run.",
		example: "sbx spec suggest last --write spec.json",
		flags: []flag{{name: "write", arg: "FILE", help: "put the spec with the lines into a new file"},
			{name: "json", help: "one JSON object"}}}
}

// runSpec implements `sbx spec`.
func runSpec(c *call) int {
	if len(c.rest) == 0 || c.rest[0] != "suggest" || len(c.rest) > 2 {
		return c.std.misused("spec: want suggest and at most one run: sbx spec suggest last")
	}
	name := "last"
	if len(c.rest) == 2 && c.rest[1] != "" {
		name = c.rest[1]
	}
	found, named, err := c.suggest(name)
	if err != nil {
		return c.std.failed(err)
	}
	if c.has("json") {
		c.std.print(suggestionJSON(&found))
	} else {
		c.std.print(suggestionText(&found))
	}
	switch {
	case c.has("write"):
		c.std.say(spec.Name(c.value("write")) + " is the spec with that: sbx exec --spec " + spec.Word(c.value("write")) + " -- …")
	case len(found.Changes) > 0:
		c.std.say("hint: sbx spec suggest " + spec.Word(named) + " --write spec.json puts it into a file")
	}
	return exitOK
}

// suggest reads a run's record, and finds the spec that the run would have needed. named
// names that run for later: by its id or, since a file may contain any id, by its file.
func (c *call) suggest(name string) (found run.Suggestion, named string, err error) {
	var dir int
	if c.has("write") {
		if dir, err = c.openDirOf(c.value("write")); err != nil {
			return found, "", err
		}
		defer closeDir(dir)
	}
	_, view, at, err := audit.Load(audit.StateDir(c.environ, c.home()), name)
	if err != nil {
		return found, "", err
	}
	r, err := c.recorded(view, at)
	if err != nil {
		return found, "", err
	}
	found, err = r.suggest()
	if last := len(r.asked.Sources) - 1; err == nil && last > 0 && len(found.Left) > 0 {
		c.std.say("hint: of several specs the last was changed, " + spec.Name(r.asked.Sources[last]) + "; those before it bound it")
	}
	if err == nil && c.has("write") {
		err = writeNew(dir, c.value("write"), found.Document.AppendIndented(nil))
	}
	if at != name {
		name = r.asked.ID
	}
	return found, name, err
}

// rerun is a recorded run as it would be on this host now.
type rerun struct {
	*call
	argv      []string
	documents []*spec.SandboxSpec
}

// recordedRun is a run of which there is a record.
type recordedRun struct {
	rerun
	asked *audit.Asked
}

// recorded reads from a record what the run was asked to do. at is the path of the record.
func (c *call) recorded(view audit.View, at string) (*recordedRun, error) {
	asked, err := audit.AskedOf(view)
	if err != nil {
		return nil, &spec.Problem{On: at, Do: "suggest a spec", Why: err.Error()}
	}
	if err := enter(asked.Cwd); err != nil {
		return nil, err
	}
	r := &recordedRun{rerun{call: c, argv: asked.Argv}, asked}
	for i, n := range asked.Documents {
		d, err := spec.DecodeNode(asked.Sources[i], n)
		if err != nil {
			return nil, err
		}
		d.Source.Dir = dirOf(d.Source.Name, asked.Cwd)
		r.documents = append(r.documents, d)
	}
	return r, nil
}

// last returns the document that may be changed.
func (r *rerun) last() *spec.SandboxSpec { return r.documents[len(r.documents)-1] }

// with returns the run with another last document.
func (r *rerun) with(last *spec.SandboxSpec) (*execution, error) {
	r.rest = r.argv // without the flags that sbx added for an agent
	x := newExecution(r.call)
	x.Counter = wrap.CounterAuto
	first := r.documents[:len(r.documents)-1]
	x.Argv, x.Documents = r.rest, append(slices.Clip(first), last)
	return x, x.resolveAsk()
}

// ask returns the run's Ask with another last document.
func (r *rerun) ask(last *spec.SandboxSpec) (*run.Ask, error) {
	x, err := r.with(last)
	return x.Ask, err
}

func (r *recordedRun) suggest() (run.Suggestion, error) {
	a, err := r.ask(r.last())
	if err != nil {
		return run.Suggestion{}, err
	}
	return run.Suggest(a, run.Denials(r.asked.Violations), false, r.ask)
}

// beside returns what a page shows in addition to the record.
func (r *recordedRun) beside() (more show.Beside) {
	x, err := r.with(r.last())
	if err == nil {
		x.prepared, err = run.Try(x.Ask)
	}
	if err != nil {
		return more
	}
	network := show.Part{Title: "network", Rows: []show.Row{{What: x.Resolved.Network.String(), Why: x.asked("network")}}}
	more.Reach = append(append(x.viewParts(), network), x.networkParts()...)
	if len(r.asked.Violations) == 0 {
		return more
	}
	if found, err := r.suggest(); err == nil && len(found.Changes) > 0 {
		more.Spec, more.Changes = string(found.Document.AppendIndented(nil)), suggestionText(&found)
	}
	return more
}

// suggestionText lists the changes with their reasons, and the denials that no line
// allows.
func suggestionText(s *run.Suggestion) string {
	var b strings.Builder
	for _, change := range s.Changes {
		b.WriteString(pad(spec.Shown(change.String()), 48))
		if d, ok := s.For[change.String()]; ok {
			b.WriteString(" # " + deniedText(&d))
			if d.Rule == "secrets" {
				b.WriteString("; this opens a secret")
			}
			if d.Opens != "" {
				b.WriteString("; every change in " + spec.Name(d.Opens) + " would be allowed")
			}
		}
		b.WriteString("\n")
	}
	for i := range s.Left {
		b.WriteString("# no line allows: " + deniedText(&s.Left[i]) + " (" + spec.Shown(s.Left[i].Rule) + ")\n")
	}
	if b.Len() == 0 {
		b.WriteString("# nothing that this spec denies was denied\n")
	}
	return b.String()
}

func deniedText(d *run.Denied) string {
	text := spec.Shown(d.Action)
	if d.Target != "" {
		text += " " + spec.Name(d.Target)
	}
	if d.Program != "" {
		text += " (" + spec.Name(d.Program) + ")"
	}
	if d.Count > 1 {
		text += ", " + strconv.Itoa(d.Count) + " times"
	}
	return text
}

// suggestionJSON returns {spec, changes: [{field, value, gone, for, target}], left}.
func suggestionJSON(s *run.Suggestion) string {
	w := &doc.Writer{}
	w.Open('{')
	w.KeyRaw("spec", string(s.Document.AppendJSON(nil, nil)))
	doc.Objects(w, "changes", s.Changes, func(c *doc.Change) {
		w.KeyStr("field", c.Field)
		w.KeyRaw("value", c.Value)
		w.KeyFlag("gone", c.Gone)
		if d, ok := s.For[c.String()]; ok {
			w.KeyText("for", d.Action)
			w.KeyText("target", d.Target)
			w.KeyText("opens", d.Opens)
		}
	})
	doc.Objects(w, "left", s.Left, func(d *run.Denied) {
		w.KeyStr("action", d.Action)
		w.KeyText("target", d.Target)
		w.KeyText("rule", d.Rule)
	})
	w.Close('}')
	return string(w.B) + "\n"
}
