package oci

import (
	"slices"
	"strconv"
	"strings"

	"sbx/internal/doc"
	"sbx/internal/oci/walls"
	"sbx/internal/view"
	"sbx/spec"
	"sbx/wrap"
)

// Edit is one member of a document that becomes another, and why.
type Edit struct {
	At    string // "process.capabilities"
	Value *doc.Node
	Why   string
}

// apply is a document with edits.
func apply(n *doc.Node, edits []Edit) *doc.Node {
	for _, e := range edits {
		n = with(n, strings.Split(e.At, "."), e.Value)
	}
	return n
}

func with(n *doc.Node, path []string, v *doc.Node) *doc.Node {
	if len(path) > 1 {
		v = with(n.Get(path[0]), path[1:], v)
	}
	return n.With(path[0], v)
}

// at is the member of a document at a path; nil for none.
func at(n *doc.Node, path string) *doc.Node {
	for key := range strings.SplitSeq(path, ".") {
		n = n.Get(key)
	}
	return n
}

// editor makes the edits of a container's config.json.
type editor struct {
	c     *Container
	s     *Seen
	plan  *wrap.Plan
	nodes []wrap.Node
	// hold is a path of the host, as a directory or file and the way in it, as the runtime
	// can bind it: no link that somebody puts there meanwhile leads it away.
	hold func(base, rest string) (string, error)

	own map[string]string // what of this program's is bound in, by where
	// groups tells whether the runtime can have control groups; where it cannot, and
	// best_effort lets it be, a limit would only keep the container from being made.
	groups bool

	edits []Edit
}

// Edits are what a plan makes of a config.json.
func (e *editor) all(n *Narrowing, supervisor int) ([]Edit, error) {
	for _, edit := range n.edits(e.c.Config.Get("process"), supervisor) {
		edit.At = "process." + edit.At
		e.edits = append(e.edits, edit)
	}
	e.set("process.env", doc.Strs(e.plan.Env), "environment")
	if start := e.s.Resolved.Start(); start != e.c.Cwd {
		e.set("process.cwd", doc.Str(start), "working_dir")
	}
	e.limits()
	e.network()
	e.devices()
	e.proc()
	err := e.mounts(n.Init)
	return slices.DeleteFunc(e.edits, func(edit Edit) bool { return same(at(e.c.Config, edit.At), edit.Value) }), err
}

func (e *editor) set(path string, v *doc.Node, why string) {
	e.edits = append(e.edits, Edit{path, v, why})
}

func same(a, b *doc.Node) bool {
	return a != nil && b != nil && string(a.AppendCanonical(nil)) == string(b.AppendCanonical(nil))
}

// limits are the lower of the container's and the spec's.
func (e *editor) limits() {
	if !e.groups {
		return
	}
	l := &e.s.Resolved.Spec.Limits.Value
	if l.Memory.Set {
		e.lower("linux.resources.memory.limit", int64(l.Memory.Value), "limits.memory")
		e.lower("linux.resources.memory.swap", int64(l.Memory.Value), "limits.memory, of which swap is a part")
	}
	if l.PIDs.Set {
		e.lower("linux.resources.pids.limit", int64(l.PIDs.Value), "limits.pids")
	}
	if l.CPUs.Set {
		us, of := wrap.Quota(l.CPUs.Value)
		quota, period := whole(at(e.c.Config, "linux.resources.cpu.quota")), whole(at(e.c.Config, "linux.resources.cpu.period"))
		if period == 0 {
			period = 100_000 // the kernel's own
		}
		if quota <= 0 || us*period < quota*of {
			e.set("linux.resources.cpu.quota", doc.Int(us), "limits.cpus")
			e.set("linux.resources.cpu.period", doc.Int(of), "limits.cpus")
		}
	}
}

// lower sets a limit that is not as low already; 0 and -1 are none.
func (e *editor) lower(path string, v int64, why string) {
	if has := whole(at(e.c.Config, path)); has <= 0 || v < has {
		e.set(path, doc.Int(v), why)
	}
}

// network gives a container that is to have none a network namespace in which nothing is.
func (e *editor) network() {
	if e.s.Resolved.Network != spec.NetworkNone {
		return
	}
	all := doc.ListOf(object("type", doc.Str("network")))
	for _, n := range doc.Items(at(e.c.Config, "linux.namespaces")) {
		if doc.Text(n.Get("type")) != "network" {
			all.Items = append(all.Items, n)
		}
	}
	e.set("linux.namespaces", all, "network: none")
}

// devices leaves the container those that every one has, where files are confined.
func (e *editor) devices() {
	if !e.s.Resolved.Confined {
		return
	}
	if len(doc.Items(at(e.c.Config, "linux.devices"))) > 0 {
		e.set("linux.devices", doc.ListOf(), "devices of the host stay out")
	}
	e.set("linux.resources.devices", doc.ListOf(object("allow", doc.Truth(false), "access", doc.Str("rwm"))), "the devices that every container has, and no other")
}

// proc shuts of /proc what lets the host be seen and changed.
func (e *editor) proc() {
	if e.plan.Base == wrap.BaseHost {
		return
	}
	var masked []string
	for _, l := range []struct {
		at    string
		table []wrap.Row
	}{{"linux.maskedPaths", wrap.ProcMasked()}, {"linux.readonlyPaths", wrap.ProcReadOnly()}} {
		paths := doc.Texts(at(e.c.Config, l.at))
		for i := range l.table {
			path := "/proc/" + l.table[i].Path
			if path != "/proc/1" && !slices.Contains(paths, path) && !slices.Contains(masked, path) { // which is sbx exec's own
				paths = append(paths, path)
			}
		}
		if masked == nil { // which need not be read-only beside
			masked = paths
		}
		e.set(l.at, doc.Strs(paths), "the kernel's settings are the host's")
	}
}

// mounts are the container's own, read-only where nothing writable lies at them, and
// those of the spec over them.
func (e *editor) mounts(init bool) error {
	var all []*doc.Node
	confined := e.plan.Base != wrap.BaseHost && e.s.Resolved.Confined
	for i := range e.c.Mounts {
		m := e.c.Mounts[i]
		m.Options = slices.Clone(m.Options)
		path := e.s.Places[i].Path
		if m.binds() && path == "/dev/shm" && e.s.Resolved.Private { // another's shared memory
			m = Mount{Target: m.Target, Type: "tmpfs", Source: "shm", Options: []string{"nosuid", "nodev", "noexec", "mode=1777"}}
		}
		switch access := e.plan.View.At(path).Access; {
		case !confined, kernels(path):
		case access < view.Write || !m.binds():
			m.closed()
		}
		if confined && m.binds() {
			m.option("nosuid")
			m.option("nodev")
		}
		all = append(all, m.node())
	}
	if confined {
		e.set("root.readonly", doc.Truth(true), "nothing of the image can be written")
	}
	for i := range e.nodes {
		m, err := e.mount(&e.nodes[i])
		if err != nil {
			return err
		}
		if m.Target != "" {
			all = append(all, m.node())
		}
	}
	if init {
		for _, f := range []string{walls.Init, walls.File} {
			m := Mount{Target: f, Type: "bind", Source: e.own[f], Options: []string{"bind", "ro", "nosuid", "nodev"}}
			all = append(all, m.node())
		}
	}
	e.set("mounts", doc.ListOf(all...), "files")
	return nil
}

// kernels tells whether a path is of the file systems that runtimes fill themselves.
func kernels(path string) bool {
	return view.Within(path, "/proc") || view.Within(path, "/dev")
}

// closed makes a mount read-only, and all that is mounted beneath it.
func (m *Mount) closed() {
	m.Options = slices.DeleteFunc(m.Options, func(o string) bool { return o == "rw" })
	m.option("ro")
	if m.has("rbind") || m.Type == "bind" && !m.has("bind") {
		m.option("rro")
	}
}

func (m *Mount) option(o string) {
	if !m.has(o) {
		m.Options = append(m.Options, o)
	}
}

// mount is a node of the plan as a mount of config.json, the zero Mount for what needs
// none.
func (e *editor) mount(n *wrap.Node) (m Mount, err error) {
	if n.Path == "/" || kernels(n.Path) {
		return m, nil
	}
	switch n.Kind {
	case wrap.NodeBind:
		base, rest, ok := e.s.outside(e.c, n.Source)
		if !ok {
			return m, nil // of a file system that is there for the container alone
		}
		m = Mount{Target: n.Path, Type: "bind", Options: []string{"rbind", "rprivate", "nosuid", "nodev"}}
		if m.Source, err = e.hold(base, rest); err != nil {
			return m, &spec.Problem{Field: n.For, On: n.Source, Do: "hold it for the container", Why: err.Error()}
		}
		if n.Mode == wrap.ModeRO || n.Closed {
			m.closed()
		}
	case wrap.NodeTmpfs:
		perm := n.Perm
		if e.c.UID != 0 && perm&0o002 == 0 { // it is root's
			m.Options = []string{"uid=" + strconv.Itoa(e.c.UID), "gid=" + strconv.Itoa(e.c.GID)}
		}
		m = Mount{Target: n.Path, Type: "tmpfs", Source: "tmpfs", Options: append(m.Options, "nosuid", "nodev", "mode="+strconv.FormatUint(uint64(max(perm, 0o700)), 8))}
		if n.Size > 0 {
			m.Options = append(m.Options, "size="+strconv.FormatInt(n.Size, 10))
		}
		if n.Closed {
			m.option("ro")
		}
	case wrap.NodeEmptyDir:
		m = Mount{Target: n.Path, Type: "tmpfs", Source: "tmpfs", Options: []string{"ro", "nosuid", "nodev", "mode=555", "size=4k"}}
	case wrap.NodeEmptyFile:
		m = Mount{Target: n.Path, Type: "bind", Source: "/dev/null", Options: []string{"bind", "ro", "nosuid"}}
	}
	return m, nil
}
