package broker

import (
	"sbx/internal/broker/document"
	"sbx/internal/broker/policy"
	"sbx/internal/broker/wire"
	"sbx/spec"
)

// Checked is what would become of a step, or of a tool where there is no plan.
type Checked struct {
	Name, Tool string
	Verdict    string
	Rule       string
	Reason     string
	AllowWith  string
}

// Check says what would become of each step of a plan, as if all before it had been
// done, and of each tool where there is none. It runs nothing and needs no secret.
func Check(start *wire.Start, environ []string) ([]Checked, *spec.Problem) {
	b, p := judging(start)
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
		no = d.engines(v, r, call)
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

// checkTool says whether some call of a tool could be allowed.
func (d *decider) checkTool(t *document.Tool) Checked {
	if no := d.never(t); no != nil {
		return Checked{Name: t.Name, Tool: t.Name, Verdict: policy.Deny.String(), Rule: no.rule, Reason: no.reason, AllowWith: no.with}
	}
	return Checked{Name: t.Name, Tool: t.Name, Verdict: "depends", Reason: "on the arguments"}
}
