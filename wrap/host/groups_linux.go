package host

import (
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch/cgroup"
)

// groups finds out where the control groups that r's limits need can be made.
// Where there is no such limit, and something else bounds the number of processes,
// nothing is looked at.
func (p *prober) groups() {
	l := &p.r.Spec.Limits.Value
	want := cgroup.Want{wrap.Memory: l.Memory.Set, wrap.CPU: l.CPUs.Set, wrap.PIDs: l.PIDs.Set}
	if want != (cgroup.Want{}) && p.h.Parent == nil {
		want[wrap.CPUAcct] = true
		p.h.Groups = cgroup.Find(want)
	}
	Unbounded(p.r, &p.h)
}

// Unbounded finds out where a group can be made for the default bound on processes,
// where h has nothing else for it. A process is in one group of version 2 alone: that of
// the other limits, where there is one.
func Unbounded(r *spec.Resolved, h *wrap.Host) {
	if !h.Unbounded(r) || h.Groups[wrap.PIDs].State != wrap.Unknown {
		return
	}
	g := cgroup.Beneath(wrap.PIDs)
	for c := range h.Groups {
		if o := &h.Groups[c]; g.Version == 2 && o.Version == 2 && o.Dir != g.Dir {
			g = cgroup.In(o.Dir, wrap.PIDs)
		}
	}
	h.Groups[wrap.PIDs] = g
}
