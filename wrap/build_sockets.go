package wrap

import (
	"sbx/internal/relay/wire"
	"sbx/seccomp"
	"sbx/spec"
)

// sockets decides how pathname sockets of the host, which a network namespace does not cover, are
// kept from the command: masks cover those in view at launch, and a listener decides on every
// connect(2).
func (b *network) sockets() {
	if b.r.Network == spec.NetworkHost {
		return
	}
	const left = "a socket that is made outside after the launch can be connected to by its path"
	switch {
	case b.plan.Notify == seccomp.NotifyNone, b.req.AnySocket:
		b.fault(FieldProtected, Degraded, left)
		return
	case b.h.Copies.State == No:
		b.fault(FieldProtected, Degraded, left+": "+b.h.Copies.Why+"; to mend it, "+b.h.CopiesHelp())
		return
	}
	b.plan.Sockets = true
	b.plan.Watch.Sockets = b.namedSockets()
}

// namedSockets returns the host's sockets that the spec names, which opens them.
func (b *network) namedSockets() (all []string) {
	named := map[string]bool{}
	name := func(path string) {
		if !named[path] {
			named[path] = true
			all = append(all, path)
		}
	}
	// Directories are left out: naming a directory opens no socket in it, as it opens no secret in
	// it.
	for _, w := range b.r.Write {
		if w.Field != "" && w.Field != FieldAgent && !w.IsDir && !b.planted(w) {
			name(w.Real)
		}
	}
	for i := range b.binds {
		if m := &b.binds[i]; m.Mode == spec.MountRW && !m.Source.IsDir && m.Field != "" {
			name(m.Target)
		}
	}
	return all
}

// egress decides whether the command can reach the hosts of network.allow and no others: the
// supervisor decides on every connect and a relay makes the connection. Otherwise the command has
// no network.
func (b *network) egress() {
	if b.r.Network != spec.NetworkAllow || b.plan.Rung == RungParent {
		return
	}
	why, help := "", ""
	switch {
	case !b.plan.Has(NetNS):
		why, help = "no network namespace: "+b.h.rungWhy(), b.h.OpenMore("allow user namespaces for this program")
	case b.mute != "":
		why, help = "the supervisor cannot decide on connects: "+b.mute, "use sbx's own sandbox, with no --counter"
	case b.h.Copies.State == No:
		why, help = "the supervisor cannot decide on connects: "+b.h.Copies.Why, b.h.CopiesHelp()
	case b.req.NoRelay != "":
		why, help = b.req.NoRelay, "install sbx-egress next to sbx"
	default:
		b.plan.Relay = true
		return
	}
	help += ", or list \"network\" in best_effort: then nothing can be reached"
	if b.r.AgentNetwork {
		help += "; network.mode: host gives " + b.r.Agent.String() + " the whole network"
	}
	b.lack(&spec.Problem{Field: "network.allow", On: b.r.At("network.allow"), Do: "let the command reach what network.allow names", Why: why,
		Help: help}, Unavailable)
	if b.r.AllowsLess("network.allow") {
		b.fault("network", Unavailable, "none held, nothing can be reached: "+why)
	}
}

// publish decides whether the relay publishes the ports of network.listen.
func (b *network) publish() {
	if len(b.r.Listen) == 0 {
		return
	}
	for i, l := range b.r.Listen {
		if l.Inside == wire.Port || l.Inside == wire.Door || l.Inside == wire.DNS && b.plan.Egress {
			b.problems = append(b.problems, &spec.Problem{Field: "network.listen", On: b.r.At(spec.Field("network.listen[" + itoa(i) + "]")),
				Do: "publish the command's port " + itoa(l.Inside), Why: "that port of the sandbox is taken by sbx itself",
				Help: "have the command listen at another one, as in \"" + itoa(l.Host) + ":3000\""})
		}
	}
	why, help := b.req.NoRelay, "install sbx-egress next to sbx"
	if !b.plan.Has(NetNS) {
		why, help = "no network namespace: "+b.h.rungWhy(), b.h.OpenMore("allow user namespaces for this program")
	}
	if b.plan.Publish = why == ""; !b.plan.Publish {
		b.unpublished(why, help)
	}
}

func (b *draft) unpublished(why, help string) {
	b.lack(&spec.Problem{Field: "network.listen", On: b.r.At("network.listen"), Do: "publish what network.listen names", Why: why,
		Help: help + ", or list \"network.listen\" in best_effort: then no port is published"}, Unavailable)
}
