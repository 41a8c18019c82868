package main

import (
	"strings"
	"time"

	"sbx/audit"
	"sbx/internal/outer"
	"sbx/internal/reach"
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch"
)

// narrow has the outer sbx hold what may be reached, where that is less than it lets
// reach itself.
func (x *execution) narrow() error {
	if x.plan.Narrow == nil || x.narrowing != nil {
		return nil
	}
	n, ok := outer.OpenNarrowing(x.plan.Narrow)
	if !ok {
		return &spec.Problem{Field: "network", On: x.resolved.At("network"), Do: "narrow network inside another sandbox",
			Why: "its supervisor holds no more for those inside", Help: "end other runs inside it, or leave network out, which is the outer one's then"}
	}
	x.narrowing = &n
	return nil
}

// listenNarrow notes what the outer sbx refuses.
func (x *execution) listenNarrow(h *launch.Hooks) {
	if x.narrowing == nil {
		return
	}
	h.Wait = append(h.Wait, launch.Waiter{FD: x.narrowing.FD, Event: x.hearNarrow})
}

func (x *execution) hearNarrow() {
	for r, ok := x.narrowing.Next(); ok; r, ok = x.narrowing.Next() {
		if x.plan.Narrow != nil && x.plan.Narrow.Told {
			x.beyond(&r)
		}
	}
}

// beyond notes a connect that the outer sbx refused.
func (x *execution) beyond(r *wrap.Beyond) {
	v := audit.Violation{At: time.Now(), Kind: "network", Action: "connect", Target: r.Target, Program: r.Program, Rule: x.networkRule()}
	what := spec.Name(v.Target) + " is out of reach"
	switch {
	case v.Target == "":
		what = "an abstract socket is out of reach"
	case strings.HasPrefix(v.Target, "/"):
		what = spec.Name(v.Target) + " is a socket from outside"
	default:
		v.Host, v.Port = apart(v.Target)
		if ip, isIP := reach.ParseIP(v.Host); !r.Outer && !(isIP && ip.Loopback()) { // that is another host's there
			v.AllowWith = x.allowLine(v.Target)
		}
	}
	x.record.Violations.Add(v)
	x.once(v.Kind+v.Rule, v, what)
}

// narrowed says that nothing is left for which the outer sbx would hold anything.
func (x *execution) narrowed() {
	if x.narrowing == nil {
		return
	}
	x.hearNarrow()
	x.narrowing.Close()
}
