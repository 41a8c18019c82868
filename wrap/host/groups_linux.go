package host

import (
	"sbx/spec"
	"sbx/wrap"
	"sbx/wrap/launch/cgroup"
)

// groups finds where the cgroups for r's limits can be created. Without such a limit, and
// if something else bounds the number of processes, it looks at nothing.
func (p *prober) groups() {
	l := &p.r.Spec.Limits.Value
	want := cgroup.Want{wrap.Memory: l.Memory.Set, wrap.CPU: l.CPUs.Set, wrap.PIDs: l.PIDs.Set}
	if want != (cgroup.Want{}) && p.h.Parent == nil {
		want[wrap.CPUAcct] = true
		p.h.Groups = cgroup.Find(want)
	}
	Unbounded(p.r, &p.h)
}

// Unbounded finds where a cgroup can be created for the default limit of processes, if h has no
// other way to enforce it. A process is in only one cgroup of version 2, so this is the cgroup of
// the other limits if they have one.
func Unbounded(r *spec.Resolved, h *wrap.Host) {
	if !h.Unbounded(r) || h.Groups[wrap.PIDs].State != wrap.Unknown {
		return
	}
	g := cgroup.FindInOwn(wrap.PIDs)
	for c := range h.Groups {
		if o := &h.Groups[c]; g.Version == 2 && o.Version == 2 && o.Dir != g.Dir {
			g = cgroup.FindIn(o.Dir, wrap.PIDs)
		}
	}
	h.Groups[wrap.PIDs] = g
}
