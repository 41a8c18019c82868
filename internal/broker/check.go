package broker

import (
	"strings"

	"sbx/internal/broker/document"
	"sbx/internal/broker/policy"
	"sbx/internal/broker/wire"
	"sbx/internal/doc"
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

// GrantedBy is what a spec gives, as "sbx check --json" tells it.
func GrantedBy(report []byte) (g wire.Granted, workspace string, err error) {
	root, err := doc.ParseLaxJSON("sbx check", report, 64)
	if err != nil {
		return g, "", err
	}
	if ok := root.Get("ok"); ok == nil || ok.Text != "true" { // or what a spec that is refused does not say would be given
		p := &spec.Problem{Do: "tell what the spec gives", Why: "sbx refuses it", Help: "sbx check with the same specs"}
		if all := doc.Items(root.Get("problems")); len(all) > 0 {
			p.Field, p.On, p.Why = spec.Field(doc.Text(all[0].Get("field"))), doc.Text(all[0].Get("on")), doc.Text(all[0].Get("reason"))
		}
		return g, "", p
	}
	for _, at := range doc.Items(root.Get("files")) {
		p := wire.Place{Path: doc.Text(at.Get("path")), Access: doc.Text(at.Get("access")), Source: doc.Text(at.Get("source"))}
		p.Protected = p.Access == "read-only" && strings.HasPrefix(doc.Text(at.Get("because")), "protected")
		if kept := at.Get("kept"); kept != nil && kept.Text == "false" {
			p.Source = ""
		} else if p.Access == "writable" {
			g.Trees = append(g.Trees, p.Source)
		}
		g.View = append(g.View, p)
	}
	if g.View == nil { // nothing is mounted
		g.View = []wire.Place{{Path: "/", Access: "writable", Source: "/"}}
	}
	switch doc.Text(root.Get("network").Get("mode")) {
	case spec.NetworkHost.String():
		g.Reach = []string{"*"}
	case spec.NetworkAllow.String():
		for _, rule := range doc.Items(root.Get("network").Get("allow")) {
			g.Reach = append(g.Reach, doc.Text(rule.Get("to")))
		}
	}
	for _, c := range doc.Items(root.Get("broker").Get("grant")) {
		g.Caps = append(g.Caps, doc.Text(c))
	}
	g.Any = root.Get("plan").Get("commands") == nil
	return g, doc.Text(root.Get("plan").Get("command").Get("dir")), nil
}
