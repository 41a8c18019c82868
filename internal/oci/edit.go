package oci

import (
	"slices"
	"strings"

	"sbx/internal/doc"
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

	// root makes a root of the spec's own.
	root func(nodes []wrap.Node) (string, error)

	programs map[string]string // what of this program's is bound in, by where
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
	err := e.files(n.Init)
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
