package run

import (
	"strings"
	"time"

	"sbx/audit"
	"sbx/audit/listen"
	"sbx/internal/outer"
	"sbx/internal/reach"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch"
)

// narrowing hears what an outer sbx refuses, which holds the network of this run.
type narrowing struct{ *events }

// begin has the outer sbx hold what may be reached, where that is less than it lets
// reach itself.
func (x *narrowing) begin() error {
	if x.Plan.Narrow == nil || x.narrow != nil {
		return nil
	}
	n, ok := outer.OpenNarrowing(x.Plan.Narrow)
	if !ok {
		return &spec.Problem{Field: "network", On: x.Resolved.At("network"), Do: "narrow network inside another sandbox",
			Why: "its supervisor has no room for another sandbox inside", Help: "end other runs inside it, or leave network out, which is the outer one's then"}
	}
	x.narrow = &n
	return nil
}

// listen notes what the outer sbx refuses.
func (x *narrowing) listen(h *launch.Hooks) {
	if x.narrow != nil {
		h.Wait = append(h.Wait, launch.Waiter{FD: x.narrow.FD, Event: x.hear})
	}
}

func (x *narrowing) hear() {
	for r, ok := x.narrow.Next(); ok; r, ok = x.narrow.Next() {
		if x.Plan.Narrow != nil && x.Plan.Narrow.Told {
			x.beyond(&r)
		}
	}
}

// beyond notes a connect that the outer sbx refused.
func (x *narrowing) beyond(r *wrap.Beyond) {
	v := audit.Violation{At: time.Now(), Kind: "network", Action: listen.Connect, Target: r.Target, Program: r.Program, Rule: NetworkRule(x.Resolved)}
	what := spec.Name(v.Target) + " is out of reach"
	switch {
	case v.Target == "":
		what = "an abstract socket is out of reach"
	case strings.HasPrefix(v.Target, "/"):
		what = spec.Name(v.Target) + " is a socket from outside"
	default:
		v.Host, v.Port = apart(v.Target)
		if ip, isIP := reach.ParseIP(v.Host); !r.Outer && !(isIP && ip.Loopback()) { // that is another host's there
			v.Act = reaching(v.Target)
		}
	}
	x.record.Violations.Add(v)
	x.once(v.Kind+v.Rule, v, what)
}

// end says that nothing is left for which the outer sbx would hold anything.
func (x *narrowing) end() {
	if x.narrow == nil {
		return
	}
	x.hear()
	x.narrow.Close()
}
