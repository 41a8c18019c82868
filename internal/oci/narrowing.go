package oci

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sbx/internal/doc"
	"sbx/internal/oci/walls"
	"sbx/landlock"
	"sbx/seccomp"
	"sbx/spec"
	"sbx/wrap"
)

// Narrowing holds the limits of a spec on every process that a runtime starts in a container:
// the first one and those of exec.
type Narrowing struct {
	Init    bool     // sbx-init starts the process
	Caps    []string // the capabilities that it may have
	Files   int64    // RLIMIT_NOFILE and RLIMIT_FSIZE; -1 leaves the container's own
	Size    int64
	Names   []string // the variables that it may have, if Limited
	Limited bool
	Set     []string // "NAME=value" of environment.set, which overrides the engine's
	NoNew   bool     // no_new_privs
	// NoNetwork: every network interface is removed before the container starts.
	NoNetwork bool
	// Attended: every process sends its seccomp listener to the container's supervisor.
	Attended bool
	// Apart: every process has the capability walls.Apart until its walls are raised.
	Apart bool
}

func narrowing(r *spec.Resolved, p *wrap.Plan, w *walls.Walls, own []string) *Narrowing {
	n := &Narrowing{Init: !w.Empty(), Attended: w.Listens, Files: -1, Size: -1, NoNew: p.NoNewPrivs, NoNetwork: r.Network == spec.NetworkNone,
		Limited: r.Spec.Environment.Set || len(r.Dropped) > 0 || r.Private}
	if n.Caps = own; !p.KeepCaps {
		n.Caps = slices.DeleteFunc(slices.Clone(own), func(c string) bool {
			return !slices.ContainsFunc(p.Caps, func(kept wrap.Cap) bool { return kept.String() == c })
		})
	}
	if l := &r.Spec.Limits.Value; true {
		if l.OpenFiles.Set {
			n.Files = int64(l.OpenFiles.Value)
		}
		if l.FileSize.Set {
			n.Size = int64(l.FileSize.Value)
		}
	}
	for _, kv := range p.Env {
		name, _, _ := strings.Cut(kv, "=")
		n.Names = append(n.Names, name)
		if _, set := r.Spec.Environment.Value.Set.Value[name]; set {
			n.Set = append(n.Set, kv)
		}
	}
	return n
}

// capKinds are the names of a process's capability sets in config.json.
var capKinds = []string{"bounding", "effective", "permitted", "inheritable", "ambient"}

// caps returns the capabilities of the container's first process, of any kind. crun takes
// their names in any case.
func (c *Container) caps() (all []string) {
	caps := c.Config.Get("process").Get("capabilities")
	for _, kind := range capKinds {
		for _, c := range doc.Texts(caps.Get(kind)) {
			all = append(all, strings.ToUpper(c))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// keepApart protects sbx-init, until its walls are raised, from being traced by processes that run
// in the container already, from which Landlock protects it too, and by other containers that share
// its processes. exposed is the reason if that is impossible, or if something else can take the place
// of sbx-init.
func (c *Container) keepApart(n *Narrowing, w *walls.Walls) (exposed string) {
	has := func(name string) bool { return slices.Contains(n.Caps, name) && slices.Contains(c.caps(), name) }
	canTrace := has("CAP_SYS_PTRACE") || has(walls.Apart)
	canJoin := c.allows("capget", "capset", "prctl") && walls.CanKeepApart()
	n.Apart = w.Listens && !canTrace && canJoin
	w.Apart = n.Apart
	open := w.Listens && w.Landlock.Empty()
	switch {
	case !n.Init:
	case w.Landlock.FS == 0 && has("CAP_SYS_ADMIN"):
		exposed = "the container has CAP_SYS_ADMIN: it can change sbx-init, which exec starts"
	case open && canTrace:
		exposed = "the container has CAP_SYS_PTRACE or " + walls.Apart + ": it can trace what exec adds before that is confined"
	case open && !canJoin:
		exposed = "the container can trace what exec adds before that is confined: its list of system calls shuts capset, or its engine has no " + walls.Apart
	case !w.Listens || !canFollow():
		exposed = "no supervisor sees whether exec starts sbx-init: another container, given a descriptor of this one's directories, can put a program in its place"
	}
	return exposed
}

// edits returns the changes to a process object of config.json, with paths relative to that object.
// supervisor is the number of the descriptor that sbx-init inherits.
func (n *Narrowing) edits(process *doc.Node, supervisor int) (edits []Edit) {
	set := func(at string, v *doc.Node, why string) { edits = append(edits, Edit{at, v, why}) }
	if n.Init {
		set("args", doc.Strs(walls.Line(supervisor, doc.Texts(process.Get("args")))), "sbx-init holds Landlock and the system calls, and becomes the command")
	}
	if n.NoNew {
		set("noNewPrivileges", doc.Truth(true), "no program gives more than its caller has")
	}
	if caps := process.Get("capabilities"); n.Apart || caps != nil { // without this member a process has no capabilities, even as root
		for _, kind := range capKinds {
			has, why := doc.Texts(caps.Get(kind)), "capabilities over the host stay out"
			has = slices.DeleteFunc(has, func(c string) bool { return !slices.Contains(n.Caps, strings.ToUpper(c)) })
			if n.Apart && !slices.Contains(has, walls.Apart) {
				has, why = append(has, walls.Apart), "nothing in the container traces sbx-init, which gives "+walls.Apart+" up"
			}
			set("capabilities."+kind, doc.Strs(has), why)
		}
	}
	for _, l := range []struct {
		kind string
		v    int64
		why  string
	}{{"RLIMIT_NOFILE", n.Files, "limits.open_files"}, {"RLIMIT_FSIZE", n.Size, "limits.file_size"}} {
		if l.v < 0 {
			continue
		}
		all := doc.ListOf()
		hard, soft := l.v, l.v
		for _, r := range doc.Items(process.Get("rlimits")) {
			if doc.Text(r.Get("type")) == l.kind {
				for key, v := range map[string]*int64{"hard": &hard, "soft": &soft} {
					if own, ok := doc.Whole(r.Get(key)); ok && own >= 0 { // else it is infinite: RLIM_INFINITY is 2⁶⁴-1, and -1 to crun
						*v = min(*v, own)
					}
				}
			} else {
				all.Items = append(all.Items, r)
			}
		}
		all.Items = append(all.Items, object("type", doc.Str(l.kind), "hard", doc.Int(hard), "soft", doc.Int(soft)))
		process = process.With("rlimits", all)
		set("rlimits", all, l.why)
	}
	return edits
}

// environ filters an exec's variables: it keeps the names that the container's first process may
// have, and those of the terminal, with the values that the spec sets.
func (n *Narrowing) environ(env []string) []string {
	set := func(name string) bool {
		return slices.ContainsFunc(n.Set, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	}
	kept := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return set(name) || n.Limited && !slices.Contains(n.Names, name) && name != "TERM" && name != "HOME"
	})
	if kept = append(kept, n.Set...); n.Init {
		kept = walls.Carry(kept)
	}
	return kept
}

// node encodes the Narrowing for the file that later verbs read.
func (n *Narrowing) node() *doc.Node {
	return object("init", doc.Truth(n.Init), "caps", doc.Strs(n.Caps), "files", doc.Int(n.Files), "size", doc.Int(n.Size),
		"names", doc.Strs(n.Names), "limited", doc.Truth(n.Limited), "set", doc.Strs(n.Set), "no_new_privs", doc.Truth(n.NoNew), "no_network", doc.Truth(n.NoNetwork),
		"attended", doc.Truth(n.Attended), "apart", doc.Truth(n.Apart))
}

func narrowingOf(n *doc.Node) *Narrowing {
	is := func(key string) bool { return isTrue(n.Get(key)) }
	return &Narrowing{Init: is("init"), Caps: doc.Texts(n.Get("caps")), Files: whole(n.Get("files")), Size: whole(n.Get("size")),
		Names: doc.Texts(n.Get("names")), Limited: is("limited"), Set: doc.Texts(n.Get("set")), NoNew: is("no_new_privs"), NoNetwork: is("no_network"), Attended: is("attended"), Apart: is("apart")}
}

// walls returns the Landlock ruleset, filter and limits of a plan for sbx-init to apply. It leaves out a
// scope of Landlock if the container has its own namespace for the same purpose: each process of
// exec has its own ruleset, and could otherwise not signal the others.
func (c *Container) walls(r *spec.Resolved, p *wrap.Plan, places []Place) walls.Walls {
	w := walls.Walls{ABI: p.LandlockABI, Landlock: p.Landlock}
	l := &r.Spec.Limits.Value
	if l.OpenFiles.Set {
		w.Limits = append(w.Limits, walls.Limit{Resource: unix.RLIMIT_NOFILE, Most: uint64(l.OpenFiles.Value)})
	}
	if l.FileSize.Set {
		w.Limits = append(w.Limits, walls.Limit{Resource: unix.RLIMIT_FSIZE, Most: uint64(l.FileSize.Value)})
	}
	for kind, scope := range map[string]landlock.ScopeSet{"pid": landlock.Signal, "network": landlock.AbstractUnix} {
		if ns := c.namespace(kind); ns != nil && ns.Get("path") == nil {
			w.Landlock.Scope &^= scope
		}
	}
	if w.Landlock.FS != 0 && slices.ContainsFunc(places, func(p Place) bool { return p.isTerminationLog() }) {
		allow := (landlock.ReadFile | landlock.WriteFile | landlock.Truncate) & w.Landlock.FS
		w.Landlock.Rules = append(slices.Clip(w.Landlock.Rules), landlock.Rule{Path: terminationLog, Allow: allow, File: true})
	}
	w.Listens = p.Notify != seccomp.NotifyNone
	switch f := &p.Filter; {
	case f.On:
		o := f.Options
		o.Notify, o.Uncounted = p.Notify, w.Listens && p.Counter == wrap.CounterNone && !p.Programs.Any()
		w.Filter = []byte(seccomp.Shipped(o, seccomp.Native))
	case w.Listens:
		w.Filter = seccomp.Encode(seccomp.CountOnly(seccomp.Native))
	}
	return w
}
