package wrap

import (
	"cmp"
	"strings"

	"sbx/landlock"
	"sbx/seccomp"
	"sbx/spec"
)

// fields writes the Enforcement: a line for every field that a document sets, and for what an
// access mode implies.
func (b *fieldLines) fields() {
	(&counting{b.draft}).budget()
	files, net := b.mechanisms()
	nested := b.h.Parent != nil && b.sandboxed()
	if nested {
		files, net = "parent", "parent"
		if b.plan.Landlock.FS&^landlock.Refer != 0 {
			files += ", landlock"
		}
		if b.plan.Narrow != nil {
			net = CounterOuter.by() + ", seccomp, landlock"
		}
	}
	for _, f := range b.r.Spec.Asked() {
		switch {
		case b.isNotYet(f):
			b.line(f, "")
		case f == "restrict" && b.r.Orphan:
			b.fault(f, Unavailable, spec.OrphanWhy)
			b.line(f, "")
		case f.In("filesystem", "sandbox", "access_mode", "readonly", "restrict"):
			b.line(f, files)
		case f == "network.allow":
			b.line(f, net)
		case f == "network.listen" && len(b.r.Listen) > 0:
			by := "network namespace, sbx-egress"
			if nested {
				by = "parent"
			}
			b.line(f, by)
		case f == "network.mode":
			// the line "network" below covers it
		case f == "environment.pass" || f == "environment.set":
			b.line(f, "the command's environment")
		case f == "working_dir":
			b.line(f, "chdir")
		case f.In("tools_allowed", "tools_denied", "max_turns") && b.fromOutside(f):
			b.line(f, "parent")
		case f == "tools_allowed" || f == "tools_denied" || f == "max_turns":
			b.line(f, cmp.Or(b.req.Agent.Agent.String(), "an agent")+"'s flags and stream")
		case f == "max_commands" || f == "on_exceed":
			b.line(f, b.plan.Counter.by())
		case f.In("limits"):
			b.line(f, b.heldBy[f])
		case f.In("commands") && nested:
			b.line(f, "parent")
		case f == fieldAllow:
			b.line(f, "landlock, seccomp")
		case f == fieldDeny:
			by := "mount namespace"
			if b.plan.Base == BaseHost {
				by = "landlock"
			}
			b.line(f, by)
		case f == "syscalls":
			b.line(f, "seccomp")
		case f.In("broker"):
			if !b.plan.Brokered {
				b.fault(f, Unavailable, b.req.Broker.Why)
			}
			b.line(f, "sbx-broker")
		default:
			b.line(f, "the plan")
		}
	}
	if b.r.Network != spec.NetworkHost || b.r.Spec.Network.Set {
		b.line("network", net)
	}
	b.job(files)
	b.implied(files)
	b.agentLines()
	b.reportUnplaced()
	if b.plan.Rung == RungParent && b.r.Root.Real != "" {
		b.note("sandbox.root", "inside another sandbox nothing is mounted: virtual paths are those that the outer one has")
	}
	for _, n := range b.r.Notes {
		f, _, _ := strings.Cut(string(n.Field), "[")
		if f == "network.mode" {
			f = "network"
		}
		b.note(spec.Field(f), n.Text)
	}
}

// job writes the Enforcement of the two directories of a job.
func (b *fieldLines) job(files string) {
	for _, f := range []spec.Field{FieldInput, FieldOutput} {
		if b.jobDir(f) == "" {
			continue
		}
		if b.plan.Base == BaseHost {
			b.fault(f, Unavailable, "nothing can be mounted at /"+string(f)+": "+b.h.rungWhy())
		}
		b.line(f, files)
	}
}

// implied writes the Enforcement of what every sandbox enforces without a field of the document.
func (b *fieldLines) implied(files string) {
	b.line(FieldNoNewPrivs, "prctl")
	if b.sandboxed() {
		by := "seccomp"
		if b.plan.Landlock.Scope != 0 {
			by += ", landlock"
		}
		b.line(FieldSideDoors, by)
	}
	if b.h.Parent != nil && b.sandboxed() {
		b.nestedLines()
		return
	}
	if b.plan.Has(PidNS) {
		b.line(FieldProcesses, "pid namespace"+b.bounded)
	} else {
		b.fault(FieldProcesses, Degraded, "no pid namespace: what the command leaves is ended with it, but not after sbx itself was killed by SIGKILL")
		b.line(FieldProcesses, "subreaper"+b.bounded)
	}
	if b.plan.Base == BaseHost {
		b.fault(FieldRecord, Degraded, "without a mount namespace the command can read and change the record while it runs")
		b.line(FieldRecord, "written anew at the end")
	} else {
		b.line(FieldRecord, "mount namespace")
	}
	if b.plan.Has(MountNS) && b.r.Network != spec.NetworkHost && !b.plan.Sockets {
		b.line(FieldProtected, "mount namespace, inotify")
	}
	if b.r.Learn {
		b.layerFaults()
		b.line(FieldLayer, "overlay")
	}
	if !b.r.Private {
		return
	}
	if b.plan.Base == BaseHost {
		why := "no namespaces: " + b.h.rungWhy()
		b.fault(FieldSecrets, Unavailable, why)
		b.fault(FieldPrivate, Unavailable, why)
		b.fault(FieldProtected, Unavailable, why)
		b.fault(FieldUnmade, Unavailable, why)
		b.fault(FieldHome, Degraded, "the agent's home is not a layer of its own: "+why)
	}
	b.line(FieldSecrets, files)
	b.line(FieldPrivate, files)
	if b.r.HomeLayer && b.plan.Base != BaseHost {
		b.line(FieldHome, b.homeBy())
	} else if b.r.HomeLayer {
		b.line(FieldHome, files)
	}
	if len(b.plan.Watch.Trees) > 0 || b.plan.Base == BaseHost {
		b.line(FieldProtected, "mount namespace, inotify")
		by := "inotify, sweep"
		if b.plan.Notify != seccomp.NotifyNone {
			by = "seccomp notify, " + by
		}
		b.line(FieldUnmade, by)
	}
}

// sandboxed reports whether the Plan constrains more than no_new_privs.
func (b *draft) sandboxed() bool { return !b.plan.KeepCaps || b.plan.Filter.On }

// nestedLines writes the Enforcement of what an outer sandbox enforces.
func (b *fieldLines) nestedLines() {
	b.line(FieldProcesses, "parent")
	if b.r.Learn {
		b.layerFaults()
		b.line(FieldLayer, "")
	}
	b.fault(FieldRecord, Degraded, "the command can read and change this record while it runs; the outer sandbox's own it cannot")
	b.line(FieldRecord, "written anew at the end")
	if b.r.Private {
		b.line(FieldSecrets, "parent")
		b.line(FieldPrivate, "parent")
		b.nestedHome()
		b.line(FieldProtected, "parent")
		b.line(FieldUnmade, "parent")
	}
}

// mechanisms names what enforces the file rules and the network rules here.
func (b *draft) mechanisms() (files, net string) {
	var f []string
	if b.plan.Has(MountNS) {
		f = append(f, "mount namespace")
	}
	if b.plan.Landlock.FS != 0 {
		f = append(f, "landlock")
	}
	net = "seccomp"
	switch {
	case b.r.Network == spec.NetworkHost:
		net = "none needed"
	case b.plan.Has(NetNS):
		net = "network namespace"
		if b.plan.Sockets {
			net += ", seccomp notify"
		}
		if b.plan.Relay {
			net += ", sbx-egress"
		}
	}
	files = strings.Join(f, ", ")
	if files == "" {
		files = "none needed"
	}
	return files, net
}
