package run

import (
	"strings"
	"time"

	"sbx/audit"
	"sbx/audit/listen"
	"sbx/internal/enclosing"
	"sbx/internal/reach"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch"
)

// narrowing handles what an outer sbx denies, if this run's network restriction is
// enforced by the outer one.
type narrowing struct{ *events }

// begin asks the outer sbx to restrict this run's network, if the run may reach less than
// the outer sandbox.
func (x *narrowing) begin() error {
	if x.Plan.Narrow == nil || x.narrow != nil {
		return nil
	}
	n, ok := enclosing.OpenNarrowing(x.Plan.Narrow)
	if !ok {
		return &spec.Problem{Field: "network", On: x.Resolved.At("network"), Do: "narrow network inside another sandbox",
			Why: "its supervisor has no room for another sandbox inside", Help: "end other runs inside it, or leave network out, which is the outer one's then"}
	}
	x.narrow = &n
	return nil
}

// listen registers for the denials of the outer sbx.
func (x *narrowing) listen(h *launch.Hooks) {
	if x.narrow != nil {
		h.Wait = append(h.Wait, launch.Waiter{FD: x.narrow.FD, Event: x.hear})
	}
}

func (x *narrowing) hear() {
	for r, ok := x.narrow.Next(); ok; r, ok = x.narrow.Next() {
		if x.Plan.Narrow != nil && x.Plan.Narrow.Told {
			x.recordBeyond(&r)
		}
	}
}

// recordBeyond records a connect(2) that the outer sbx denied.
func (x *narrowing) recordBeyond(r *wrap.Beyond) {
	v := audit.Violation{At: time.Now(), Kind: "network", Action: listen.Connect, Target: r.Target, Program: r.Program, Rule: NetworkRule(x.Resolved)}
	what := spec.Name(v.Target) + " is out of reach"
	switch {
	case v.Target == "":
		what = "an abstract socket is out of reach"
	case strings.HasPrefix(v.Target, "/"):
		what = spec.Name(v.Target) + " is a socket from outside"
	default:
		v.Host, v.Port = splitTarget(v.Target)
		if ip, isIP := reach.ParseIP(v.Host); !r.Outer && !(isIP && ip.Loopback()) { // the loopback address of another network namespace
			v.Act = reachAct(v.Target)
		}
	}
	x.record.Violations.Add(v)
	x.printOnce(v.Kind+v.Rule, v, what)
}

// end tells the outer sbx that the restriction is not needed any more.
func (x *narrowing) end() {
	if x.narrow == nil {
		return
	}
	x.hear()
	x.narrow.Close()
}
