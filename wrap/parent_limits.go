package wrap

import (
	"slices"
	"strconv"

	"sbx/spec"
)

// tellLimits is what an sbx inside may count on: the limits that this sandbox
// holds, not those that it only watches.
func (b *builder) tellLimits(p *Parent) {
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

func (p *Parent) parseLimits(n *spec.Node) bool {
	whole := func(key string) (v int64, err error) {
		if m := n.Get(key); m != nil {
			v, err = strconv.ParseInt(m.Text, 10, 64)
		}
		return v, err
	}
	var err, err2, err3 error
	p.Memory, err = whole("memory")
	p.SocketsApart = n.Get("sockets_apart") != nil && n.Get("sockets_apart").Text == "true"
	p.PIDs, err2 = whole("pids")
	if m := n.Get("cpus"); m != nil {
		p.CPUs, err3 = strconv.ParseFloat(m.Text, 64)
	}
	return err == nil && err2 == nil && err3 == nil
}
