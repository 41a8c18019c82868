package wrap

import (
	"sbx/internal/view"
	"sbx/spec"
)

// Build combines a spec with a host into a Plan. It is pure: the same values
// give the same Plan. The error is spec.Problems, every refusal at once: what
// the spec asks for is in the Plan, or the document let it be less and the
// Plan's Enforcement says so, or there is no Plan.
func Build(r *spec.Resolved, h *Host, req Request) (*Plan, error) {
	b := &builder{r: WithOwn(r), h: h, req: req, made: map[string]bool{}, pinned: map[string]bool{}, slots: map[taken][]int{}, openedAt: map[string]int{}}
	b.plan.Mounts = make([]Mount, 0, 128)
	b.view = view.New(64)
	b.plan.Command = Command{Argv: req.Argv, Executable: req.Program.Path, Dir: r.Start()}
	b.plan.Env = environment(r.Env, h.DropEnv)
	b.plan.NoNewPrivs = true
	b.plan.KeepCaps = true
	b.openDevices()
	b.tellPresets()
	b.notYet()
	b.globs()
	b.plan.Opening = Open(r, h)
	b.gather()
	b.named = b.openedNames()
	b.counter()
	b.limits()
	b.agent()
	if b.plan.Rung == RungFree {
		b.plan.Base = BaseHost
		b.tell()
	} else {
		b.sandbox()
	}
	b.program()
	b.exposed()
	b.fields()
	if len(b.problems) > 0 {
		return nil, b.problems
	}
	b.plan.View = b.view
	return &b.plan, nil
}

// builder holds a Plan while it is made.
type builder struct {
	r        *spec.Resolved
	h        *Host
	req      Request
	plan     Plan
	view     view.Tree // as the Plan stands so far
	problems spec.Problems

	prefix   string          // where the new root is put together; "" in place
	whole    bool            // the new root has all that the host's has
	held     int             // slots handed out
	slots    map[taken][]int // clones taken
	binds    []spec.MountAt  // the spec's mounts, and what a job or a workshop puts in place
	namings  [][2]string     // links of a workshop's tree: the virtual path and the own
	unplaced []string        // what of it has no virtual path, and why
	made     map[string]bool // what was made in the new tree
	pinned   map[string]bool // folders that cannot be renamed, for what is in them
	private  []string        // folders that are private, by their path inside
	writable []spec.Path     // what is bound in writable, a folder before what is in it
	opened   []string        // secret folders in which something is opened
	named    []string        // protected names that filesystem.write names, and so opens
	openedAt map[string]int  // the slots of the private folders that take their place late
	mute     string          // why the supervisor can answer no calls
	denied   []string        // files that commands.deny names
	runs     []*Executable   // what commands.allow names
	faults   []fault         // what makes a line other than enforced
	heldBy   heldBy          // by which mechanism a limit is held
	bounded  string          // what bounds the number of processes without limits.pids
	home     homeKind        // what an agent's home is
	copies   []homeCopy      // of its files

	// The record would lie directly in a folder that is put together anew, where it is
	// left out: the list of that folder's names is older than the record.
	recordOut bool
}

// fault is a reason why a field's line is not Enforced.
type fault struct {
	field  spec.Field
	status Status
	reason string
}

func (b *builder) fault(f spec.Field, s Status, reason string) {
	b.faults = append(b.faults, fault{f, s, reason})
}

// lack says that field cannot be held as asked: a refusal, or a fault where
// the documents let it be.
func (b *builder) lack(p *spec.Problem, s Status) {
	if b.r.AllowsLess(p.Field) {
		b.fault(p.Field, s, p.Why)
		return
	}
	b.problems = append(b.problems, p)
}

// notYet refuses the fields whose enforcement does not exist.
func (b *builder) notYet() {
	for _, f := range b.r.NotYet {
		b.lack(&spec.Problem{Field: f, On: b.r.At(f), Do: "enforce " + string(f),
			Why: "sbx does not enforce it yet", Help: "leave it out, or list \"" + string(f) + "\" in best_effort"}, Unavailable)
	}
}

// globs refuses "**/NAME" of a name that is not protected anyway.
func (b *builder) globs() {
	for _, g := range b.r.Globs {
		name := g[len("**/"):]
		_, deep := IsProtectedName("any/" + name)
		if _, top := IsProtectedName(name); !deep && !top {
			b.problems = append(b.problems, &spec.Problem{Field: "filesystem.write", On: b.r.At("filesystem.write"), Do: "write " + g,
				Why: "only protected names may be opened at any depth, and this is none", Help: "name the folders themselves"})
		}
	}
}

// sandbox is the Plan of every other spec, on the best rung that holds.
func (b *builder) sandbox() {
	p := &b.plan
	p.KeepCaps = false
	p.Filter = Filter{On: true, Profile: b.r.Syscalls, Root: b.h.UID == 0,
		Unix: b.r.Network != spec.NetworkHost, Code: b.h.Profile}
	p.Filter.Reach = b.req.Agent.Agent != 0 && p.Counter == CounterNotify && !p.Filter.Unix
	if b.h.ProfileWhy != "" {
		b.problems = append(b.problems, &spec.Problem{Field: "syscalls", On: b.r.At("syscalls"), Do: "use the profile " + b.r.Syscalls,
			Why: b.h.ProfileWhy, Help: "mend the profile, or leave syscalls out"})
	}
	if b.h.Seccomp.State == No {
		p.Filter = Filter{}
		b.lack(&spec.Problem{Field: FieldSideDoors, Do: "shut the side doors", Why: "no seccomp filter can be loaded: " + b.h.Seccomp.Why,
			Help: "accept less with require_available: false"}, Unavailable)
	}
	b.commands()
	if p.Rung == RungParent {
		b.nested()
		return
	}
	b.publish()
	if p.Rung == RungBare {
		p.Base = BaseHost
		p.Filter.NoInet = b.r.Network != spec.NetworkHost
		b.layBare()
		b.bare()
		b.barePrograms()
	} else {
		b.capabilities()
		b.mounts()
	}
	b.landlock()
	b.watch()
	b.egress()
	// kill(0) reaches the caller's process group whatever namespace it is in;
	// where no Landlock scope stops it the command is given one of its own.
	p.OwnGroup = b.h.LandlockABI < scopesABI
}

// scopesABI is the Landlock ABI that has scopes (Linux 6.12).
const scopesABI = 6

// capabilities says which a root keeps: those by which it owns the files of
// others, in its own user namespace only.
func (b *builder) capabilities() {
	if b.plan.IDs.All {
		b.plan.Caps = []Cap{CapChown, CapDACOverride, CapFowner, CapFsetid}
	}
	b.plan.Bounding = true
}

// bare names what Landlock and seccomp cannot do without namespaces.
func (b *builder) bare() {
	why := "no namespaces: " + b.h.rungWhy()
	b.plan.Bounding = false
	if b.r.AccessMode.Guards() {
		b.lack(&spec.Problem{Field: "access_mode", On: b.r.At("access_mode"), Do: "keep " + b.r.AccessMode.String() + " in full",
			Why:  why + "; Landlock alone hides nothing, and leaves chmod, chown, times and extended attributes, sockets by path" + b.oldLandlock(),
			Help: "allow user namespaces for this program, or list \"access_mode\" in best_effort"}, b.bareStatus())
	}
	for _, f := range []spec.Field{"filesystem.hide", "filesystem.mounts"} {
		if b.asked(f) {
			b.lack(&spec.Problem{Field: f, On: b.r.At(f), Do: "set up " + string(f), Why: why,
				Help: "allow user namespaces, or list \"" + string(f) + "\" in best_effort"}, Unavailable)
		}
	}
	for _, f := range []spec.Field{"filesystem.read", "filesystem.write", "sandbox.root", "sandbox.readonly", "restrict", "readonly"} {
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
			Help: "allow user namespaces, or list \"" + string(f) + "\" in best_effort"}, b.bareStatus())
	}
	if b.r.Network != spec.NetworkHost && b.plan.Filter.On {
		b.fault("network", Degraded, why+"; seccomp refuses inet sockets, sockets by path stay")
		if !b.r.AllowsLess("network") && !b.r.AllowsLess("network.mode") && !b.r.AllowsLess("access_mode") {
			b.problems = append(b.problems, &spec.Problem{Field: "network", On: b.r.At("network.mode"), Do: "cut the network off",
				Why: why + "; seccomp refuses inet sockets, sockets by path stay", Help: "allow user namespaces, or list \"network\" in best_effort"})
		}
	} else if b.r.Network != spec.NetworkHost {
		b.lack(&spec.Problem{Field: "network", On: b.r.At("network.mode"), Do: "cut the network off", Why: why + ", and no seccomp",
			Help: "allow user namespaces, or list \"network\" in best_effort"}, Unavailable)
	}
}

// bareStatus is how far an access mode holds without namespaces.
func (b *builder) bareStatus() Status {
	if b.h.LandlockABI == 0 {
		return Unavailable
	}
	return Degraded
}

// rungWhy is why the last rung with namespaces cannot be held.
func (h *Host) rungWhy() string {
	why := h.Rungs[RungUser].Why
	if h.UID == 0 && h.Rungs[RungRoot].Why != "" {
		why += "; without a user namespace " + h.Rungs[RungRoot].Why
	}
	return why
}

// asked tells whether a document of the spec sets field.
func (b *builder) asked(f spec.Field) bool {
	s := b.r.Spec
	fs := s.Filesystem.Value
	switch f {
	case "filesystem.read":
		return fs.Read.Set
	case "filesystem.write":
		return fs.Write.Set
	case "filesystem.hide":
		return fs.Hide.Set && len(fs.Hide.Value) > 0
	case "filesystem.mounts":
		return fs.Mounts.Set && len(b.r.Mounts) > 0
	case "sandbox.root":
		return s.Sandbox.Set && s.Sandbox.Value.Root.Set
	case "sandbox.readonly":
		return s.Sandbox.Value.Readonly.Or(false)
	case "restrict":
		return s.Restrict.Set
	case "readonly":
		return s.Readonly.Or(false)
	}
	return false
}

// environment is env without the variables that name a hidden socket.
func environment(env, drop []string) []string {
	if len(drop) == 0 {
		return env
	}
	var out []string
next:
	for _, kv := range env {
		for _, name := range drop {
			if len(kv) > len(name) && kv[len(name)] == '=' && kv[:len(name)] == name {
				continue next
			}
		}
		out = append(out, kv)
	}
	return out
}
