package broker

import (
	"sbx/internal/broker/caps"
	"sbx/internal/broker/document"
	"sbx/internal/broker/grant"
	"sbx/internal/broker/policy"
	"sbx/internal/broker/wire"
	"sbx/internal/doc"
	"sbx/spec"
)

// decider decides calls by the documents and by the calls so far. It cannot run anything.
// Its user holds the broker's lock, if there is a broker.
type decider struct {
	*walls
	doc      *document.Broker
	plan     *document.Plan            // nil if there is none
	policies map[string]*policy.Policy // by tool
	steps    []state
	used     []policy.Used // by rule
}

// state is the state of a plan's step.
type state uint8

const (
	todo state = iota
	running
	done
	failed // it may be tried again
)

// newDecider makes a decider from the documents of a start.
func newDecider(start *wire.Start) (*decider, *spec.Problem) {
	d := &decider{walls: &walls{start: start}, policies: map[string]*policy.Policy{}}
	var err error
	if d.doc, err = document.ReadBroker(start.Broker); err != nil {
		return nil, problem(err, "read the Broker document")
	}
	if d.granted, err = grant.New(&start.Granted, start.Workspace); err != nil {
		return nil, problem(err, "have it granted")
	}
	if p := d.readPlan(); p != nil {
		return nil, p
	}
	d.used = make([]policy.Used, len(d.doc.Rules))
	for _, t := range d.doc.Tools {
		d.policies[t.Name] = policy.For(t.Name, d.doc.Rules)
		if err := t.Compile(); err != nil {
			return nil, &spec.Problem{Field: spec.Field("tools." + t.Name + ".args"), On: d.doc.Name, Do: "read the schema", Why: err.Error()}
		}
	}
	return d, nil
}

// readPlan reads the plan. Its tools must exist, and the sandbox's spec must grant its
// capabilities.
func (d *decider) readPlan() *spec.Problem {
	if d.start.Plan == nil {
		return nil
	}
	var err error
	if d.plan, err = document.ReadPlan(d.start.Plan.Name, d.start.Plan.Text); err != nil {
		return problem(err, "read the plan")
	}
	d.steps = make([]state, len(d.plan.Steps))
	for i := range d.plan.Steps {
		s := &d.plan.Steps[i]
		refuse := func(do, why, help string) *spec.Problem {
			on := doc.Error{Name: d.plan.Name, Pos: s.At}
			return &spec.Problem{Field: "steps", On: on.On(), Do: do, Why: why, Help: help}
		}
		if d.doc.Tool(s.Tool) == nil {
			return refuse("take the step "+s.ID, "there is no tool "+s.Tool+" in "+d.doc.Name, "")
		}
		for _, text := range s.Caps {
			c, _ := caps.Parse(text, d.start.Workspace)
			if !d.granted.Covers(c) {
				reason, with := (&grant.Lack{Cap: c}).Advice()
				return refuse("let the step "+s.ID+" have "+text, reason, with)
			}
		}
		if len(s.Artifacts) > 0 && d.start.Output == "" {
			return refuse("expect artifacts of the step "+s.ID, "the sandbox has no /output", "sbx exec --output DIR")
		}
	}
	return nil
}

// problem makes a problem of the error in a document.
func problem(err error, do string) *spec.Problem {
	p := spec.AsProblems(err)[0]
	p.Do = do
	return p
}
