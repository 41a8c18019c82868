package broker

import (
	"bytes"

	"sbx/internal/broker/caps"
	"sbx/internal/broker/document"
	"sbx/internal/broker/policy"
	"sbx/internal/doc"
)

// candidates returns the steps of the plan that a call may be; -1 stands for no step of a
// plan.
func (d *decider) candidates(call *document.Call) ([]int, *denial) {
	if d.plan.AnyCall() {
		return []int{-1}, nil
	}
	args := call.Args.AppendCanonical(nil)
	matches := func(s *document.Step) bool {
		return s.Tool == call.Tool && (s.Args == nil || bytes.Equal(s.Args.AppendCanonical(nil), args))
	}
	var all []int
	past := ""
	for i := range d.plan.Steps {
		s := &d.plan.Steps[i]
		state := d.steps[i]
		if d.plan.Ordered && state == done {
			if matches(s) {
				past = s.ID
			}
			continue
		}
		if matches(s) {
			if d.plan.Ordered && state == running {
				return nil, &denial{Forbidden, "plan", "the step " + s.ID + " is running", ""}
			}
			all = append(all, i)
		}
		if d.plan.Ordered && len(all) == 0 {
			return nil, &denial{Forbidden, "plan", orDone("the plan's next step is "+s.ID, past), "steps: " + s.ID + " first"}
		}
		if d.plan.Ordered {
			return all, nil
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	return nil, &denial{Forbidden, "plan", orDone("the plan has no such step", past), "steps: {id: NAME, tool_name: " + doc.Quote(call.Tool) + "}"}
}

// orDone adds to a reason that a step like the call was done already, if past is one.
func orDone(reason, past string) string {
	if past != "" {
		return "the step " + past + " is done already; " + reason
	}
	return reason
}

// judge asks both engines about the request as step i, and fills in what that step
// prescribes.
func (d *decider) judge(r *request, call *document.Call, i int) (policy.Decision, *denial) {
	r.step, r.requested, r.artifacts = i, r.needed, call.Artifacts
	asked, has := call.Caps, call.HasCaps
	if i >= 0 && d.plan.Steps[i].HasCaps {
		asked, has = d.plan.Steps[i].Caps, true
	}
	if has {
		r.requested = nil
		for _, text := range asked {
			c, why := caps.Parse(text, d.start.Workspace)
			if why != "" {
				return policy.Decision{}, &denial{BadArgs, "args", text + " is not a capability: " + why, ""}
			}
			r.requested = append(r.requested, c)
		}
	}
	if i >= 0 {
		r.artifacts = d.plan.Steps[i].Artifacts
	}
	if no := d.missingGrant(r.needed, r.requested); no != nil {
		return policy.Decision{}, no
	}
	if len(r.artifacts) > 0 && d.start.Output == "" {
		return policy.Decision{}, &denial{Forbidden, "artifacts", "the sandbox has no /output", "sbx exec --output DIR"}
	}
	return d.policies[r.tool.Name].Decide(r.argument, d.used), nil
}

// missingGrant returns the denial of a call that needs more than the sandbox has; nil if it does
// not.
func (d *decider) missingGrant(needed, requested []caps.Cap) *denial {
	lack := d.granted.Check(needed, requested)
	if lack == nil {
		return nil
	}
	reason, with := lack.Advice()
	return &denial{Forbidden, "capabilities", reason, with}
}

// neverAllowed returns the reason why no call of a tool can be allowed; nil if that depends on its
// arguments.
func (d *decider) neverAllowed(t *document.Tool) *denial {
	fixed := t.Fixed()
	no := d.missingGrant(fixed, fixed)
	if no == nil && !d.policies[t.Name].Could(d.used) {
		no = &denial{Forbidden, "rules", "no rule allows it", "rules: {tool: " + doc.Quote(t.Name) + ", verdict: allow}"}
	}
	return no
}

// askEngines asks both engines about each step that the call may be, until one is allowed.
func (d *decider) askEngines(v *Verdict, r *request, call *document.Call) *denial {
	steps, denied := d.candidates(call)
	for n, i := range steps {
		d, no := d.judge(r, call, i)
		if no == nil && d.Effect == policy.Deny {
			no = &denial{Forbidden, d.ID, d.Reason, d.AllowWith}
		}
		if no == nil {
			v.effect, v.kind, v.rule, v.reason, v.rules = d.Effect, Allowed, d.ID, d.Reason, d.Rule
			return nil
		}
		if n == 0 {
			denied = no
		}
	}
	return denied
}

// planned reports whether a call of the tool is a step of the plan that is not done yet.
func (d *decider) planned(tool string) bool {
	if d.plan.AnyCall() {
		return true
	}
	for i := range d.plan.Steps {
		if d.plan.Steps[i].Tool == tool && (!d.plan.Ordered || d.steps[i] != done) {
			return true
		}
	}
	return false
}
