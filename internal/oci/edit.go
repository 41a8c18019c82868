package oci

import (
	"slices"
	"strings"

	"sbx/internal/doc"
	"sbx/spec"
	"sbx/wrap"
)

// Edit replaces one member of a document, and says why.
type Edit struct {
	At    string // "process.capabilities"
	Value *doc.Node
	Why   string
}

// apply returns n with the edits made.
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

// at returns the member at a dotted path; nil for none.
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
	// hold returns a path that the runtime can safely bind for rest beneath base; see
	// shelf.hold.
	hold func(base, rest string) (string, error)

	// root creates a root directory with mount points for nodes; see shelf.root.
	root func(nodes []wrap.Node) (string, error)

	programs map[string]string // sbx's own files to bind-mount, by their path in the container
	// groups tells whether the runtime can use cgroups. If it cannot, and best_effort accepts
	// that, limits are left out: with one the runtime would fail to create the container.
	groups bool

	edits []Edit
}

// all returns the edits that the plan makes to config.json.
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
	err := e.files(n.Init)
	return slices.DeleteFunc(e.edits, func(edit Edit) bool { return same(at(e.c.Config, edit.At), edit.Value) }), err
}

func (e *editor) set(path string, v *doc.Node, why string) {
	e.edits = append(e.edits, Edit{path, v, why})
}

func same(a, b *doc.Node) bool {
	return a != nil && b != nil && string(a.AppendCanonical(nil)) == string(b.AppendCanonical(nil))
}

// limits lowers the container's resource limits to the spec's.
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
			period = 100_000 // the kernel's default, in microseconds
		}
		if quota <= 0 || us*period < quota*of {
			e.set("linux.resources.cpu.quota", doc.Int(us), "limits.cpus")
			e.set("linux.resources.cpu.period", doc.Int(of), "limits.cpus")
		}
	}
}

// lower sets the limit at path to v unless it is that low already; 0 and -1 mean no limit.
func (e *editor) lower(path string, v int64, why string) {
	if has := whole(at(e.c.Config, path)); has <= 0 || v < has {
		e.set(path, doc.Int(v), why)
	}
}

// network gives the container a new, empty network namespace if the spec allows no network.
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

// devices leaves the container only the default devices if the spec confines files.
func (e *editor) devices() {
	if !e.s.Resolved.Confined {
		return
	}
	if len(doc.Items(at(e.c.Config, "linux.devices"))) > 0 {
		e.set("linux.devices", doc.ListOf(), "devices of the host stay out")
	}
	e.set("linux.resources.devices", doc.ListOf(object("allow", doc.Truth(false), "access", doc.Str("rwm"))), "the devices that every container has, and no other")
}

// proc masks files of /proc that show or change the host's state, or makes them read-only.
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
