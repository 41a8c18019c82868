package broker

import (
	"sbx/internal/broker/document"
	"sbx/internal/broker/policy"
	"sbx/internal/broker/wire"
	"sbx/spec"
)

// Checked is the expected verdict for a step of a plan or, without a plan, for a tool.
type Checked struct {
	Name, Tool string
	Verdict    string
	Rule       string
	Reason     string
	AllowWith  string
}

// Check returns the verdict for each step of a plan, as if all earlier steps had been
// done; without a plan, for each tool. It runs nothing and needs no secrets.
func Check(start *wire.Start, environ []string) ([]Checked, *spec.Problem) {
	b, p := newDecider(start)
	if p == nil {
		p = b.fits(environ)
	}
	if p != nil {
		return nil, p
	}
	if b.plan == nil {
		return b.checkTools(), nil
	}
	var all []Checked
	for i := range b.plan.Steps {
		all = append(all, b.checkStep(i))
		b.steps[i] = done
	}
	return all, nil
}

func (d *decider) checkStep(i int) Checked {
	s := &d.plan.Steps[i]
	if s.Args == nil {
		c := d.checkTool(d.doc.Tool(s.Tool))
		c.Name = s.ID
		return c
	}
	v := &Verdict{effect: policy.Deny}
	call := &document.Call{Tool: s.Tool, Args: s.Args}
	r, no := d.rebuild(call)
	if no == nil {
		no = d.askEngines(v, r, call)
	}
	c := Checked{Name: s.ID, Tool: s.Tool, Verdict: v.effect.String(), Rule: v.rule, Reason: v.reason}
	if no != nil {
		c.Rule, c.Reason, c.AllowWith = no.rule, no.reason, no.with
	} else {
		d.used[v.rules].Calls++
	}
	return c
}

func (d *decider) checkTools() (all []Checked) {
	for _, t := range d.doc.Tools {
		all = append(all, d.checkTool(t))
	}
	return all
}

// checkTool says whether any call of a tool can be allowed.
func (d *decider) checkTool(t *document.Tool) Checked {
	if no := d.neverAllowed(t); no != nil {
		return Checked{Name: t.Name, Tool: t.Name, Verdict: policy.Deny.String(), Rule: no.rule, Reason: no.reason, AllowWith: no.with}
	}
	return Checked{Name: t.Name, Tool: t.Name, Verdict: "depends", Reason: "on the arguments"}
}
