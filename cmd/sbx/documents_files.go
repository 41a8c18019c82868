package main

import (
	"slices"

	"sbx/internal/enclosing"
	"sbx/spec"
	"sbx/spec/workshop"
	"sbx/wrap"
)

// files reads the documents that are not specs, those of a workshop, its workers and an
// agent, in the order in which they narrow each other.
func (c *documentSet) files(cwd string) (docs []*spec.SandboxSpec, err error) {
	var base *spec.SandboxSpec
	if c.has("workshop") {
		if base, err = c.workshop(c.value("workshop"), cwd); err != nil {
			return nil, err
		}
	}
	if outer := enclosing.Parent(); base == nil && c.has("worker") && outer != nil {
		base = outer.Workshop()
	}
	var workers []*spec.SandboxSpec
	for _, name := range c.values["worker"] {
		w, old, err := c.worker(name, cwd, base)
		if err != nil {
			return nil, err
		}
		if old != nil {
			base = old
		}
		workers = append(workers, w)
	}
	if base != nil {
		docs = append(docs, base)
	}
	docs = append(docs, workers...)
	if c.has("agent") {
		text, err := spec.Read(c.value("agent"))
		if err != nil {
			return docs, err
		}
		a, err := workshop.DecodeAgentFile(c.value("agent"), text)
		if err != nil {
			return docs, err
		}
		c.warnings = append(c.warnings, a.Warnings...)
		s := a.Spec()
		s.Source.Dir = dirOf(c.value("agent"), cwd)
		docs = append(docs, s)
	}
	return docs, nil
}

// workerAlone reports whether a worker's document and its workshop's are the only ones.
func (c *commandLine) workerAlone() bool {
	return c.has("worker") && !c.hasSpec() && !c.has("profile") && !c.has("agent")
}

func (c *documentSet) workshop(name, cwd string) (*spec.SandboxSpec, error) {
	text, err := spec.Read(name)
	if err != nil {
		return nil, err
	}
	s, warns, err := workshop.DecodeWorkshop(name, text)
	if err != nil {
		return nil, err
	}
	s.Source.Dir = dirOf(name, cwd)
	c.warnings = append(c.warnings, warns...)
	return s, nil
}

// worker reads a worker's file. For a file in the old style it also returns a replacement
// for the workshop's document, if the workshop has no sandbox or there is no workshop.
func (c *documentSet) worker(name, cwd string, base *spec.SandboxSpec) (s, old *spec.SandboxSpec, err error) {
	text, err := spec.Read(name)
	if err != nil {
		return nil, nil, err
	}
	w, err := workshop.DecodeWorker(name, text)
	if err != nil {
		return nil, nil, err
	}
	w.Source.Dir = dirOf(name, cwd)
	c.warnings = append(c.warnings, w.Warnings...)
	s = w.Spec()
	s.Source.Dir = w.Source.Dir
	bare := base != nil && !base.Sandbox.Set
	switch {
	case w.Old != nil:
		if base != nil {
			w.Source.Dir = base.Source.Dir
		}
		if base == nil || bare && base.Source.Kind == spec.WorkshopFile {
			old = w.OldSpec()
			old.Source.Dir = w.Source.Dir
			c.noteLost("sandbox", w.Old.Lost)
			return s, old, nil
		}
		c.lost = append(c.lost, wrap.Enforcement{Field: "sandbox.paths", Asked: w.Old.Asked(), Status: wrap.Unavailable,
			Reason: "old style: the workshop's sandbox holds, and paths of a worker's own are not taken"})
		c.noteLost("sandbox", w.Old.Lost)
	case bare:
		for _, f := range w.Declares() {
			c.lost = append(c.lost, wrap.Enforcement{Field: f, Asked: s.Text(f), Status: wrap.Enforced, By: "the workshop",
				Reason: "the workshop has no sandbox, so nothing but @system is in view"})
		}
		s.Restrict, s.Readonly = spec.Opt[string]{}, spec.Opt[bool]{}
		root := *s.Source.Root
		root.Members = slices.DeleteFunc(slices.Clone(root.Members), func(m spec.Member) bool { return m.Key == "restrict" || m.Key == "readonly" })
		s.Source.Root = &root
	case base == nil && !c.hasSpec() && len(w.Declares()) > 0:
		return s, nil, c.orphan(w)
	}
	return s, old, nil
}

// noteLost notes the requests of a file in the old style that nothing can enforce.
func (c *documentSet) noteLost(f spec.Field, lost []spec.Warning) {
	for _, l := range lost {
		c.lost = append(c.lost, wrap.Enforcement{Field: f, Asked: l.Text, Status: wrap.Unavailable, Reason: "old style, " + l.On})
	}
}

// orphan refuses a worker that restricts a workshop's document if there is none.
func (c *commandLine) orphan(w *workshop.Worker) error {
	var problems spec.Problems
	for _, f := range w.Declares() {
		if best := c.values["best-effort"]; !slices.Contains(best, "*") && !slices.Contains(best, string(f)) {
			problems = append(problems, &spec.Problem{Field: f, On: w.At(f), Do: "run the worker with " + string(f),
				Why:  "it declares restrictions and has no parent sandbox",
				Help: "give its workshop by --workshop, or a spec by --spec"})
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return problems
}

func (c *commandLine) hasSpec() bool { return c.has("spec") || c.has("spec-json") }

// warn prints the warnings of the documents' readers and of the Plan.
func (c *documentSet) warn(warnings []spec.Warning) {
	for _, w := range warnings {
		c.note("warning: " + spec.Shown(w.String()))
	}
}

// note prints lines for a person, unless -q says that none are wanted.
func (c *commandLine) note(lines ...string) {
	for _, line := range lines {
		if !c.has("q") {
			c.std.say(line)
		}
	}
}

// verbose prints a decision at -v.
func (c *commandLine) verbose(text string) {
	if c.has("v") {
		c.std.say(text)
	}
}
