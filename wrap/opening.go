package wrap

import (
	"slices"

	"sbx/spec"
)

// PidMaxFile limits the processes of the pid namespace of the process that writes it (Linux 6.14).
const PidMaxFile = "/proc/sys/kernel/pid_max"

// Opening is the beginning of a launch: the namespaces, and steps that depend on nothing else. It
// follows from the spec and a few facts about the kernel, so that the child can carry it out while
// the supervisor still examines the workspace. A Plan's Opening is the same value.
type Opening struct {
	Rung       Rung
	Namespaces []Namespace
	IDs        IDMap
	Loopback   bool // bring lo up in the new network namespace
	Egress     bool // all its addresses are local, and the relay has sockets there
	Lookups    bool // queries for names come to a socket of the supervisor's
	Doors      bool // the relay has sockets there through which it connects to servers inside
	Broker     bool // the broker has a socket there
	// FirstPort is the first port on which the command may listen; 0 leaves the kernel's 1024.
	FirstPort int
	// Processes is the kernel.pid_max of the new pid namespace; 0 leaves it.
	Processes uint64
}

// Open returns the opening of the best fallback level that is not known to fail.
func Open(r *spec.Resolved, h *Host) Opening {
	switch {
	case !r.FileRules && !r.SideDoors && r.Network == spec.NetworkHost:
		return Opening{Rung: RungFree}
	case h.Parent != nil:
		return Opening{Rung: RungParent}
	}
	var o Opening
	for o.Rung = RungUser; o.Rung < RungBare && h.Rungs[o.Rung].State == No; {
		o.Rung++
	}
	if o.Rung == RungBare {
		return o
	}
	if o.Rung == RungUser {
		o.Namespaces = append(o.Namespaces, UserNS)
		o.IDs = IDMap{UIDs: []IDRange{{uint32(h.UID), 1}}, GIDs: []IDRange{{uint32(h.GID), 1}}}
		if h.UID == 0 {
			o.IDs = IDMap{All: true, UIDs: h.UIDs, GIDs: h.GIDs}
		}
	}
	o.Namespaces = append(o.Namespaces, MountNS, PidNS)
	if r.Network != spec.NetworkHost {
		o.Namespaces = append(o.Namespaces, NetNS)
		o.Loopback, o.Egress, o.Lookups = true, r.Network == spec.NetworkAllow, r.Network == spec.NetworkNone
		o.Doors, o.Broker = len(r.Listen) > 0, r.Broker.File.Abs != ""
		for _, l := range r.Listen {
			if l.Inside < firstPort && (o.FirstPort == 0 || l.Inside < o.FirstPort) {
				o.FirstPort = l.Inside
			}
		}
	}
	o.Namespaces = append(o.Namespaces, IPCNS, UTSNS, CgroupNS)
	if h.UID == 0 && h.PidMax.State != No && !r.Spec.Limits.Value.PIDs.Set {
		o.Processes = h.MostProcesses()
	}
	return o
}

// firstPort is the first port on which a program may listen without a capability (ip(7),
// ip_unprivileged_port_start).
const firstPort = 1024

// Has reports whether the opening makes a namespace of kind n.
func (o *Opening) Has(n Namespace) bool {
	return slices.Contains(o.Namespaces, n)
}

// Same reports whether two openings do the same.
func (o *Opening) Same(p *Opening) bool {
	if o.Rung != p.Rung || o.Loopback != p.Loopback || o.Egress != p.Egress || o.Lookups != p.Lookups || o.Doors != p.Doors || o.Broker != p.Broker || o.FirstPort != p.FirstPort || len(o.Namespaces) != len(p.Namespaces) {
		return false
	}
	for _, n := range o.Namespaces {
		if !p.Has(n) {
			return false
		}
	}
	return true // the ids are the caller's and follow from the fallback level; Processes follows from the host
}

// rungWhy says why no fallback level with namespaces works.
func (h *Host) rungWhy() string {
	why := h.Rungs[RungUser].Why
	if h.UID == 0 && h.Rungs[RungRoot].Why != "" {
		why += "; without a user namespace " + h.Rungs[RungRoot].Why
	}
	if h.Container.Name != "" {
		why += " (in a container of " + h.Container.Name + ")"
	}
	return why
}
