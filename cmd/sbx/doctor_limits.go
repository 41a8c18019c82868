package main

import (
	"strconv"

	"sbx/internal/run"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/host"
)

// limitFindings says how each limit that is not a process's own would be enforced. It
// creates the control groups, with a command that never starts.
func limitFindings(in spec.Inputs) []finding {
	s, err := spec.Decode("doctor", []byte(`{"access_mode": "read-only", "limits": {"memory": "1GiB", "cpus": 1, "pids": 64}, "best_effort": ["*"]}`))
	if err != nil {
		return nil
	}
	r, err := spec.Resolve(s, in)
	if err != nil {
		return nil
	}
	h := host.Probe(&r)
	plan, why := run.FindPlan(&r, &h, func() string { return "" })
	if plan == nil {
		return []finding{{"limits", "no", why, ""}}
	}
	var found []finding
	for _, l := range []struct {
		field spec.Field
		c     wrap.Controller
	}{{"limits.memory", wrap.Memory}, {"limits.cpus", wrap.CPU}, {"limits.pids", wrap.PIDs}} {
		f := finding{name: string(l.field), state: "no"}
		g := &h.Groups[l.c]
		for _, e := range plan.Enforcement {
			if e.Field != l.field {
				continue
			}
			f.detail = e.Reason
			group := "cgroup v" + strconv.Itoa(g.Version) + ", in " + spec.Name(g.Dir)
			switch {
			case g.State == wrap.Yes && e.Status == wrap.Degraded: // enforced except for what the reason says
				f.state, f.detail = "yes", group+"; "+e.Reason
			case g.State == wrap.Yes && e.Status == wrap.Enforced:
				f.state, f.detail = "yes", group
			case e.Status == wrap.Enforced:
				f.state, f.detail = "yes", e.By
			}
		}
		if f.state == "no" && h.Parent == nil {
			f.detail, f.help = g.Why, wrap.GroupHelp(h.UID, l.c, g.Version)
		}
		found = append(found, f)
	}
	return found
}
