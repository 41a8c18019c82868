package wrap

import (
	"strconv"

	"sbx/spec"
)

// counter decides what counts the programs that are started. Without a budget
// a host on which nothing can count is no reason to refuse.
func (b *builder) counter() {
	why := ""
	switch c := b.req.Counter; {
	case c == CounterNone:
		why = "nothing counts programs (--counter none)"
	case c == CounterPtrace:
		why = "counting by ptrace is not there yet"
	case b.h.Seccomp.State == No:
		why = "nothing can count programs: no seccomp filter can be loaded: " + b.h.Seccomp.Why
	case b.h.Listener.State != No:
		b.plan.Counter = CounterNotify
		return
	default:
		why = "nothing can count programs: " + b.h.Listener.Why
	}
	if b.r.Spec.MaxCommands.Set {
		b.lack(&spec.Problem{Field: "max_commands", On: b.r.At("max_commands"), Do: "keep to " + strconv.Itoa(b.r.Spec.MaxCommands.Value) + " commands",
			Why: why, Help: "leave max_commands out, or list it in best_effort"}, Unavailable)
	} else if b.req.Counter != CounterNone && b.req.Counter != CounterAuto {
		b.problems = append(b.problems, &spec.Problem{Do: "count by " + b.req.Counter.String(), Why: why, Help: "leave --counter out"})
	}
}

// budget writes the lines of the budget.
func (b *builder) budget() {
	if !b.r.Spec.MaxCommands.Set || b.isNotYet("max_commands") {
		return
	}
	if b.plan.Counter != CounterNone && b.r.Spec.OnExceed.Or(spec.Deny) == spec.RecordOnly {
		b.fault("max_commands", Observed, "on_exceed is record: programs are counted and none is refused")
	}
}

// by names the mechanism of a counter.
func (c Counter) by() string {
	return [...]string{"", "seccomp notify", "ptrace", ""}[c]
}
