package wrap

import (
	"cmp"
	"slices"
	"strconv"

	"sbx/spec"
)

// reportLimits reports to an sbx inside the limits that this sandbox enforces, without those that
// it only watches.
func (b *reporter) reportLimits(p *Parent) {
	l := &b.r.Spec.Limits.Value
	holds := func(f spec.Field) bool {
		if b.heldBy[f] == "" {
			return false
		}
		return !slices.ContainsFunc(b.faults, func(x fault) bool { return x.field == f && x.status != Enforced && x.reason != socketsApart })
	}
	if l.Memory.Set && holds("limits.memory") {
		p.Memory = int64(l.Memory.Value)
		p.SocketsApart = slices.Contains(b.faults, fault{"limits.memory", Degraded, socketsApart})
	}
	if l.CPUs.Set && holds("limits.cpus") {
		p.CPUs = l.CPUs.Value
	}
	if l.PIDs.Set && holds("limits.pids") {
		p.PIDs = int64(l.PIDs.Value)
	}
}

func (p *Parent) appendLimits(w *printer) {
	if p.Memory > 0 {
		w.KeyInt("memory", p.Memory)
		w.KeyFlag("sockets_apart", p.SocketsApart)
	}
	if p.CPUs > 0 {
		w.Key("cpus")
		w.B = strconv.AppendFloat(w.B, p.CPUs, 'g', -1, 64)
	}
	w.KeyCount("pids", p.PIDs)
}

func (p *Parent) parseLimits(text func(key string) string) bool {
	var err, err2, err3 error
	p.Memory, err = strconv.ParseInt(cmp.Or(text("memory"), "0"), 10, 64)
	p.PIDs, err2 = strconv.ParseInt(cmp.Or(text("pids"), "0"), 10, 64)
	p.CPUs, err3 = strconv.ParseFloat(cmp.Or(text("cpus"), "0"), 64)
	return err == nil && err2 == nil && err3 == nil
}
