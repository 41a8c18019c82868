package wrap

import (
	"sbx/seccomp"
	"sbx/spec"
	"sbx/wrap/defaults"
)

// Build combines a spec with a host into a Plan. It is pure: the same values give the same Plan.
// The error is spec.Problems and lists every refusal at once. For each request of the spec either
// the Plan enforces it, or the document accepts less and the Plan's Enforcement says what was lost,
// or Build returns no Plan.
func Build(r *spec.Resolved, h *Host, req Request) (*Plan, error) {
	d := &draft{r: WithOwn(r), h: h, req: req}
	d.plan.Command = Command{Argv: req.Argv, Executable: req.Program.Path, Dir: r.Start()}
	d.plan.Env = h.Environ(r.Env)
	d.plan.NoNewPrivs = true
	d.plan.KeepCaps = true
	d.openDevices()
	d.reportPresets()
	d.refuseUnsupported()
	d.checkGlobs()
	d.plan.Opening = Open(r, h)
	b := newBuilder(d)
	b.virtual.gather()
	b.named = b.guards.openedNames()
	(&counting{d}).counter()
	(&limiter{d}).limits()
	(&agents{d}).agent()
	if d.plan.Rung == RungFree {
		d.plan.Base = BaseHost
		(&reporter{b.places}).reportFree()
	} else {
		b.sandbox()
	}
	b.broker()
	b.programs.program()
	(&limiter{d}).exposed()
	b.lines.fields()
	d.warnLimits()
	if len(d.problems) > 0 {
		return nil, d.problems
	}
	d.plan.View = b.view
	return &d.plan, nil
}

// refuseUnsupported refuses the fields that sbx cannot enforce yet.
func (b *draft) refuseUnsupported() {
	for _, f := range b.r.NotYet {
		b.lack(&spec.Problem{Field: f, On: b.r.At(f), Do: "enforce " + string(f),
			Why: "sbx does not enforce it yet", Help: "leave it out, or list \"" + string(f) + "\" in best_effort"}, Unavailable)
	}
}

// checkGlobs refuses a "**/NAME" whose NAME is not a protected name.
func (b *draft) checkGlobs() {
	for _, g := range b.r.Globs {
		name := g[len("**/"):]
		_, deep := defaults.IsProtectedName("any/" + name)
		if _, top := defaults.IsProtectedName(name); !deep && !top {
			b.problems = append(b.problems, &spec.Problem{Field: fieldWrite, On: b.r.At(fieldWrite), Do: "write " + g,
				Why: "only protected names may be opened at any depth, and this is not one", Help: "name the directories themselves"})
		}
	}
}

// sandbox makes the Plan of a spec that constrains the command, at the best fallback level that the
// host offers.
func (b *builder) sandbox() {
	p := &b.plan
	p.KeepCaps = false
	p.Filter = Filter{On: true, Profile: b.r.Syscalls, Code: b.h.Profile,
		Options: seccomp.Options{Root: b.h.UID == 0, Unix: b.r.Network != spec.NetworkHost}}
	p.Filter.NotifyReads = b.r.Learn && p.Notify == seccomp.NotifyOpens // who looks for a secret is told of
	p.Filter.NotifyConnect = b.req.Agent.Agent != 0 && p.Counter == CounterNotify && !p.Filter.Unix
	if b.h.ProfileWhy != "" {
		b.problems = append(b.problems, &spec.Problem{Field: "syscalls", On: b.r.At("syscalls"), Do: "use the profile " + b.r.Syscalls,
			Why: b.h.ProfileWhy, Help: "mend the profile, or leave syscalls out"})
	}
	if b.h.Seccomp.State == No {
		p.Filter = Filter{}
		b.lack(&spec.Problem{Field: FieldSideDoors, Do: "load the syscall filter", Why: "no seccomp filter can be loaded: " + b.h.Seccomp.Why,
			Help: "accept less with require_available: false"}, Unavailable)
	}
	b.programs.commands()
	if p.Rung == RungParent {
		(&nesting{b.rules}).nested()
		return
	}
	b.network.publish()
	if p.Rung == RungBare {
		p.Base = BaseHost
		p.Filter.NoInet = b.r.Network != spec.NetworkHost
		b.rules.layBare()
		b.lackNamespaces()
		b.programs.barePrograms()
	} else {
		b.capabilities()
		b.mounts()
	}
	b.rules.landlock()
	b.guards.watch()
	b.network.egress()
	// kill(0) signals the caller's process group, in whatever namespace a process of the group is.
	// Where no Landlock scope prevents that, the command gets a process group of its own.
	p.OwnGroup = b.h.LandlockABI < scopesABI
}

// scopesABI is the Landlock ABI that has scopes (Linux 6.12).
const scopesABI = 6

// capabilities names the capabilities that root keeps: those that let it own files of other users,
// in its own user namespace only.
func (b *draft) capabilities() {
	if b.plan.IDs.All {
		b.plan.Caps = []Cap{CapChown, CapDACOverride, CapFowner, CapFsetid}
	}
	b.plan.Bounding = true
}

// lackNamespaces reports what Landlock and seccomp cannot enforce without namespaces.
func (b *draft) lackNamespaces() {
	why := "no namespaces: " + b.h.rungWhy()
	b.plan.Bounding = false
	if b.r.AccessMode.Guards() {
		b.lack(&spec.Problem{Field: "access_mode", On: b.r.At("access_mode"), Do: "keep " + b.r.AccessMode.String() + " in full",
			Why:  why + "; Landlock alone hides nothing, and leaves chmod, chown, times and extended attributes, sockets by path" + b.oldLandlock(),
			Help: b.h.OpenMore("allow user namespaces for this program") + ", or list \"access_mode\" in best_effort"}, b.bareStatus())
	}
	for _, f := range []spec.Field{"filesystem.hide", "filesystem.mounts"} {
		if b.asked(f) {
			b.lack(&spec.Problem{Field: f, On: b.r.At(f), Do: "set up " + string(f), Why: why,
				Help: b.h.OpenMore("allow user namespaces") + ", or list \"" + string(f) + "\" in best_effort"}, Unavailable)
		}
	}
	for _, f := range []spec.Field{fieldRead, fieldWrite, "sandbox.root", "sandbox.readonly", "restrict", "readonly"} {
		if !b.asked(f) {
			continue
		}
		left := why + "; Landlock alone leaves names and metadata of other files in view, and chmod, chown, times and extended attributes open" + b.oldLandlock()
		if b.h.LandlockABI == 0 {
			left = why + ", and no Landlock: " + b.h.LandlockWhy
		}
		if f == "sandbox.root" {
			left += "; virtual paths are unavailable: what lies in the root is in view at its own path alone"
		}
		b.lack(&spec.Problem{Field: f, On: b.r.At(f), Do: "hold " + string(f), Why: left,
			Help: b.h.OpenMore("allow user namespaces") + ", or list \"" + string(f) + "\" in best_effort"}, b.bareStatus())
	}
	if b.r.Network != spec.NetworkHost && b.plan.Filter.On {
		b.fault("network", Degraded, why+"; seccomp denies inet sockets, sockets by path stay")
		if !b.r.AllowsLess("network") && !b.r.AllowsLess("network.mode") && !b.r.AllowsLess("access_mode") {
			b.problems = append(b.problems, &spec.Problem{Field: "network", On: b.r.At("network.mode"), Do: "cut the network off",
				Why: why + "; seccomp denies inet sockets, sockets by path stay", Help: b.h.OpenMore("allow user namespaces") + ", or list \"network\" in best_effort"})
		}
	} else if b.r.Network != spec.NetworkHost {
		b.lack(&spec.Problem{Field: "network", On: b.r.At("network.mode"), Do: "cut the network off", Why: why + ", and no seccomp",
			Help: b.h.OpenMore("allow user namespaces") + ", or list \"network\" in best_effort"}, Unavailable)
	}
}

// bareStatus returns how well an access mode is enforced without namespaces.
func (b *draft) bareStatus() Status {
	if b.h.LandlockABI == 0 {
		return Unavailable
	}
	return Degraded
}
